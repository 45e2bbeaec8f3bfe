//! What travels on a lane, and what it means.

use std::cell::Cell;
use std::fs::File;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use carat_link::Inbox;
use carat_wire::stream::{self, Chunk, STREAM_WINDOW, Window};
use carat_wire::{Frame, Hello, Kind, Malformed, Response, ResponseBody};

use super::Answer;
use super::answer::response;
use super::dispatcher::Dispatcher;
use super::holding::Stage;
use super::lane::Lane;
use crate::body::{ReplyBody, StreamSender, Upstream, partial};
use crate::frames::FrameSocket;
use crate::http::Refusal;

/// Carries frames between the dispatcher and a worker until the worker closes the lane.
pub(crate) async fn carry(lane: Rc<Lane>, socket: FrameSocket, dispatcher: Rc<Dispatcher>) {
    let mut inbox = Inbox::default();
    let over = poll_fn(|cx| poll_traffic(cx, &lane, &socket, &mut inbox, &dispatcher)).await;
    dispatcher.lane_lost(&lane, over.err());
}

/// Reads and sends until both directions must wait; ready when the lane is over.
fn poll_traffic(
    cx: &mut Context<'_>,
    lane: &Rc<Lane>,
    socket: &FrameSocket,
    inbox: &mut Inbox,
    dispatcher: &Rc<Dispatcher>,
) -> Poll<io::Result<()>> {
    while let Poll::Ready(open) = socket.poll_fill(cx, inbox) {
        if !open? {
            return Poll::Ready(Ok(()));
        }
        take_frames(lane, inbox, dispatcher).map_err(io::Error::other)?;
    }
    if lane.is_over() {
        return Poll::Ready(Ok(()));
    }
    let mut flushed = lane.poll_flush(cx, socket);
    while lane.has_recovered() {
        dispatcher.refill(lane, Instant::now());
        flushed = lane.poll_flush(cx, socket);
    }
    lane.set_waker(cx.waker());
    match flushed {
        // A worker that reads no more may still have sent something; the end of that is the end of the lane.
        Poll::Ready(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => {
            Poll::Ready(Err(error))
        }
        _ => Poll::Pending,
    }
}

/// Takes the frames of one read.
fn take_frames(
    lane: &Rc<Lane>,
    inbox: &mut Inbox,
    dispatcher: &Rc<Dispatcher>,
) -> Result<(), Malformed> {
    let now = Instant::now();
    let batch = Batch {
        lane,
        dispatcher,
        now,
    };
    let Inbox {
        frames,
        descriptors,
    } = inbox;
    while let Some(frame) = frames.next()? {
        batch.take(frame, || descriptors.pop_front().map(File::from))?;
    }
    lane.heard();
    dispatcher.refill(lane, now);
    dispatcher.rebalance_soon();
    Ok(())
}

/// What came with one read, at one time.
struct Batch<'a> {
    lane: &'a Rc<Lane>,
    dispatcher: &'a Rc<Dispatcher>,
    now: Instant,
}

impl Batch<'_> {
    fn take(
        &self,
        frame: Frame<'_>,
        descriptor: impl FnOnce() -> Option<File>,
    ) -> Result<(), Malformed> {
        match frame.kind {
            Kind::Response => self.answered(&Bytes::copy_from_slice(frame.payload), descriptor)?,
            Kind::Chunk => {
                let chunk = Chunk::decode(frame.payload)?;
                self.with_stream(chunk.id, |sender| {
                    sender.send(Bytes::copy_from_slice(chunk.data));
                });
            }
            Kind::Window => {
                let window = Window::decode(frame.payload)?;
                self.lane.grant(window.id, window.bytes);
            }
            Kind::End => self.streamed(stream::decode_id(frame.payload)?, StreamSender::finish),
            Kind::Abort => self.streamed(stream::decode_id(frame.payload)?, StreamSender::fail),
            Kind::Hello => self.greeted(Hello::decode(frame.payload)?)?,
            // The worker ends the lane next.
            Kind::Bye => {}
            _ => return Err(Malformed::BadValue("kind of frame on a lane")),
        }
        Ok(())
    }

    fn greeted(&self, hello: Hello) -> Result<(), Malformed> {
        if hello.version != carat_wire::VERSION {
            return Err(Malformed::BadValue("version"));
        }
        self.lane.open(hello.capacity);
        self.dispatcher.lane_opened(self.lane);
        Ok(())
    }

    /// The application has answered.
    fn answered(
        &self,
        payload: &Bytes,
        descriptor: impl FnOnce() -> Option<File>,
    ) -> Result<(), Malformed> {
        let answer = Response::decode(payload)?;
        let is_file = matches!(answer.body, ResponseBody::File { .. });
        let file = if is_file { descriptor() } else { None };
        let Some(exchange) = self.lane.waiting(answer.id) else {
            // Nobody asked, or it was asked on behalf of somebody who got another answer.
            self.decline(&answer);
            return Ok(());
        };
        let app_time = Duration::from_micros(u64::from(answer.app_micros));
        self.lane.note_pace(app_time);
        let made = response(&answer, payload, &exchange.call.parts, file, || {
            self.stream(answer.id)
        })
        .map(|whole| {
            let is_coded = self.dispatcher.settings.compress;
            partial(whole, &exchange.call.parts, is_coded)
        });
        if answer.body != ResponseBody::Stream || made.is_err() {
            self.lane.release(answer.id, self.now);
            exchange.call.leave_unread();
        }
        let queue_time = self
            .now
            .saturating_duration_since(exchange.arrived + app_time);
        exchange.settle(match made {
            Ok(response) => Ok(Answer {
                response,
                queue_time,
                app_time,
            }),
            Err(bad) => {
                self.decline(&answer);
                self.dispatcher.refused_answer(&exchange, &bad);
                Err(Refusal::BadAnswer)
            }
        });
        Ok(())
    }

    /// Nobody takes the pieces of this answer, and nothing may wait for that.
    fn decline(&self, answer: &Response<'_>) {
        if answer.body == ResponseBody::Stream {
            self.lane.push(|out| stream::encode_abort(out, answer.id));
        }
    }

    /// A body whose pieces follow on the lane.
    fn stream(&self, id: u32) -> ReplyBody {
        let lane = Rc::clone(self.lane);
        let upstream = LaneUpstream {
            lane,
            id,
            taken: Cell::new(0),
        };
        let (sender, body) = crate::body::stream(Box::new(upstream));
        self.lane.keep_streaming(id, sender, self.now);
        ReplyBody::stream(body)
    }

    fn with_stream(&self, id: u32, act: impl FnOnce(&StreamSender)) {
        let held = self.lane.held();
        if let Some(Stage::Streaming(sender, _)) = held.get(id).map(|held| &held.stage) {
            act(sender);
        }
    }

    /// A streamed answer has ended.
    fn streamed(&self, id: u32, end: impl FnOnce(&StreamSender)) {
        let Some(held) = self.lane.release(id, self.now) else {
            return;
        };
        match held.stage {
            Stage::Streaming(sender, _) => {
                let lasted = self.now.saturating_duration_since(held.since);
                self.lane.note_pace(lasted);
                end(&sender);
            }
            // The worker has skipped what was recalled while it took it.
            Stage::Waiting(exchange) => self.dispatcher.requeue(vec![exchange]),
        }
    }
}

/// Tells a worker how its streamed answer is read.
struct LaneUpstream {
    lane: Rc<Lane>,
    id: u32,
    /// Bytes that the client has taken and the worker has not been told of.
    taken: Cell<u32>,
}

impl Upstream for LaneUpstream {
    fn taken(&self, bytes: u32) {
        let taken = self.taken.get() + bytes;
        if taken < STREAM_WINDOW / 2 {
            self.taken.set(taken);
        } else {
            self.taken.set(0);
            self.lane
                .push(|out| stream::encode_window(out, self.id, taken));
        }
    }

    fn abandoned(&self) {
        self.lane.push(|out| stream::encode_abort(out, self.id));
    }
}
