//! What travels on a lane, and what it means.

use std::cell::Cell;
use std::fs::File;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use link::Inbox;
use wire::stream::{self, Chunk, STREAM_WINDOW};
use wire::{Frame, Hello, Kind, Malformed, Response, ResponseBody};

use super::Answer;
use super::answer::response;
use super::dispatcher::Dispatcher;
use super::lane::{Lane, Stage};
use crate::body::{ReplyBody, StreamSender, Upstream};
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
    let flushed = lane.poll_flush(cx, socket);
    lane.set_waker(cx.waker());
    match flushed {
        Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
        _ => Poll::Pending,
    }
}

fn take_frames(
    lane: &Rc<Lane>,
    inbox: &mut Inbox,
    dispatcher: &Rc<Dispatcher>,
) -> Result<(), Malformed> {
    let Inbox {
        frames,
        descriptors,
    } = inbox;
    while let Some(frame) = frames.next()? {
        take_frame(
            lane,
            frame,
            || descriptors.pop_front().map(File::from),
            dispatcher,
        )?;
    }
    dispatcher.refill(lane);
    Ok(())
}

fn take_frame(
    lane: &Rc<Lane>,
    frame: Frame<'_>,
    descriptor: impl FnOnce() -> Option<File>,
    dispatcher: &Rc<Dispatcher>,
) -> Result<(), Malformed> {
    match frame.kind {
        Kind::Response => {
            let response = Response::decode(frame.payload)?;
            let is_file = matches!(response.body, ResponseBody::File { .. });
            let file = if is_file { descriptor() } else { None };
            answered(lane, &response, file, dispatcher);
        }
        Kind::Chunk => {
            let chunk = Chunk::decode(frame.payload)?;
            with_stream(lane, chunk.id, |sender| {
                sender.send(Bytes::copy_from_slice(chunk.data));
            });
        }
        Kind::End => streamed(
            lane,
            stream::decode_id(frame.payload)?,
            StreamSender::finish,
        ),
        Kind::Abort => streamed(lane, stream::decode_id(frame.payload)?, StreamSender::fail),
        Kind::Hello => {
            let hello = Hello::decode(frame.payload)?;
            if hello.version != wire::VERSION {
                return Err(Malformed::BadValue("version"));
            }
            lane.open(hello.capacity);
            dispatcher.lane_opened(lane);
        }
        // The worker ends the lane next.
        Kind::Bye => {}
        _ => return Err(Malformed::BadValue("kind of frame on a lane")),
    }
    Ok(())
}

/// The application has answered.
fn answered(lane: &Rc<Lane>, answer: &Response<'_>, file: Option<File>, dispatcher: &Dispatcher) {
    let Some(Stage::Waiting(exchange)) = lane.release(answer.id) else {
        // Nobody asked, or it was asked on behalf of somebody who got another answer.
        return;
    };
    let app_time = Duration::from_micros(u64::from(answer.app_micros));
    lane.note_pace(app_time);
    let upstream = LaneUpstream {
        lane: Rc::clone(lane),
        id: answer.id,
        taken: Cell::new(0),
    };
    let made = response(answer, &exchange.call.parts.method, file, || {
        let (sender, body) = crate::body::stream(Box::new(upstream));
        lane.keep_streaming(answer.id, sender);
        ReplyBody::stream(body)
    });
    let queue_time = exchange.arrived.elapsed().saturating_sub(app_time);
    exchange.settle(match made {
        Ok(response) => Ok(Answer {
            response,
            queue_time,
            app_time,
        }),
        Err(bad) => {
            dispatcher.refused_answer(&exchange, &bad);
            Err(Refusal::BadAnswer)
        }
    });
}

fn with_stream(lane: &Lane, id: u32, act: impl FnOnce(&StreamSender)) {
    let held = lane.held();
    if let Some(Stage::Streaming(sender)) = held
        .iter()
        .find(|held| held.id == id)
        .map(|held| &held.stage)
    {
        act(sender);
    }
}

/// A streamed answer has ended.
fn streamed(lane: &Lane, id: u32, end: impl FnOnce(&StreamSender)) {
    let lasted = lane.running();
    match lane.release(id) {
        Some(Stage::Streaming(sender)) => {
            lane.note_pace(lasted);
            end(&sender);
        }
        Some(Stage::Waiting(exchange)) => exchange.settle(Err(Refusal::BadAnswer)),
        None => {}
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
