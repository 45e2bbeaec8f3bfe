use std::fs::File;
use std::future::poll_fn;
use std::io;
use std::num::NonZeroU32;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use carat_link::{ArrivedDescriptors, Inbox, MissingDescriptors};
use carat_wire::hints::Hints;
use carat_wire::stream::{self, Chunk, Window};
use carat_wire::{
    Collection, CollectionDue, Frame, Hello, Hijack, Kind, Malformed, Response, ResponseBody,
};

use crate::dispatcher::Dispatcher;
use crate::dispatcher::worker_rests::WorkerRests;
use crate::frames::{FrameTransport, hint_fields, reply_response};
use crate::lanes::{
    Exchange, InFlightRequest, Lane, LaneEvent, LoggedRequest, RequestStage, report_request,
};
use carat_exchange::{
    MemoryReservation, Refusal, Reply, ReplyBody, ReplyContent, ReplySender, ReplySource,
    RequestTimes, SpoolReservation, StreamCredit, clock, reply_stream,
};
use carat_files::{SlowFile, drop_elsewhere};

/// Carries frames between the dispatcher and a worker until the worker closes the lane.
pub async fn carry(lane: Rc<Lane>, socket: impl FrameTransport, dispatcher: Rc<Dispatcher>) {
    let mut inbox = Inbox::default();
    let mut outbox_memory = MemoryReservation::of(&dispatcher.client_memory.account());
    let over = poll_fn(|cx| {
        let traffic = poll_traffic(cx, &lane, &socket, &mut inbox, &dispatcher);
        lane.outbox.count(&mut outbox_memory);
        traffic
    });
    let over = over.await;
    // A worker that died may have sent descriptors whose frames are incomplete.
    drop_elsewhere(inbox);
    dispatcher.lane_lost(&lane, over.err());
}

/// Reads and sends until the socket blocks in both directions; while memory is short, reads only once. Ready when the
/// lane has ended.
fn poll_traffic(
    cx: &mut Context<'_>,
    lane: &Rc<Lane>,
    socket: &impl FrameTransport,
    inbox: &mut Inbox,
    dispatcher: &Rc<Dispatcher>,
) -> Poll<io::Result<()>> {
    while let Poll::Ready(open) = socket.poll_fill(cx, inbox) {
        if !open? {
            return Poll::Ready(Ok(()));
        }
        take_frames(lane, inbox, dispatcher).map_err(io::Error::other)?;
        if dispatcher.client_memory.is_short() {
            // The bytes that have just arrived are counted, and other tasks get a turn, before more bytes are read.
            cx.waker().wake_by_ref();
            break;
        }
    }
    if lane.is_over() {
        return Poll::Ready(Ok(()));
    }
    let mut flushed = lane.outbox.poll_flush(cx, socket);
    while lane.outbox.has_recovered() {
        dispatcher.refill(lane, clock::now());
        flushed = lane.outbox.poll_flush(cx, socket);
    }
    lane.outbox.set_waker(cx.waker());
    match flushed {
        // A worker that no longer reads may still have sent frames; the lane ends once they are read.
        Poll::Ready(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => {
            Poll::Ready(Err(error))
        }
        _ => Poll::Pending,
    }
}

/// Processes the frames of one read.
fn take_frames(
    lane: &Rc<Lane>,
    inbox: &mut Inbox,
    dispatcher: &Rc<Dispatcher>,
) -> Result<(), Malformed> {
    let now = clock::now();
    let batch = FrameBatch {
        lane,
        dispatcher,
        now,
    };
    let Inbox {
        frames,
        descriptors,
        ..
    } = inbox;
    while let Some(frame) = frames.next()? {
        batch.take(frame, || {
            descriptor(descriptors, frame.has_first_descriptor)
        })?;
    }
    lane.stall.end();
    dispatcher.refill(lane, now);
    if dispatcher.queue.are_several() || lane.outbox.is_full() {
        // A reply frees a thread, and perhaps a place of its pool. The next request may then go to another lane.
        dispatcher.hand_out(now);
    }
    dispatcher.rebalance_soon();
    Ok(())
}

/// The descriptor of a frame. Descriptors that no frame claims are closed on another thread.
fn descriptor(
    arrived: &mut ArrivedDescriptors,
    is_first: bool,
) -> Result<SlowFile, MissingDescriptors> {
    let taken = arrived.take(1, is_first).map(|mut own| own.next());
    let file = |descriptor| SlowFile::from(File::from(descriptor));
    arrived
        .take_unclaimed()
        .into_iter()
        .map(file)
        .for_each(drop);
    taken?.map(file).ok_or(MissingDescriptors::NotSent)
}

/// The frames of one read, which share a time.
pub(crate) struct FrameBatch<'a> {
    pub(crate) lane: &'a Rc<Lane>,
    pub(crate) dispatcher: &'a Rc<Dispatcher>,
    pub(crate) now: Instant,
}

impl FrameBatch<'_> {
    fn take(
        &self,
        frame: Frame<'_>,
        descriptor: impl FnOnce() -> Result<SlowFile, MissingDescriptors>,
    ) -> Result<(), Malformed> {
        match frame.kind {
            Kind::Response => self.replied(&Bytes::copy_from_slice(frame.payload), descriptor)?,
            Kind::Chunk => {
                let chunk = Chunk::decode(frame.payload)?;
                self.with_stream(chunk.id, |sender| {
                    sender.send(Bytes::copy_from_slice(chunk.data));
                });
            }
            Kind::Hijack => self.hijacked(Hijack::decode(frame.payload)?, descriptor()),
            Kind::Window => {
                let window = Window::decode(frame.payload)?;
                self.lane.in_flight().grant(window.id, window.bytes);
            }
            Kind::End => self.streamed(stream::decode_id(frame.payload)?, ReplySender::finish),
            Kind::Abort => self.streamed(stream::decode_id(frame.payload)?, ReplySender::abort),
            Kind::DescriptorsLost => self.not_received(stream::decode_id(frame.payload)?),
            Kind::Hints => self.hinted(&Hints::decode(frame.payload)?),
            Kind::Hello => self.greeted(Hello::decode(frame.payload)?)?,
            Kind::Lingers => self.lane.note_lingering(),
            Kind::CollectionDue => {
                let due = CollectionDue::decode(frame.payload)?;
                WorkerRests::of(self.dispatcher).due(self.lane.tag.worker, due, self.now);
            }
            Kind::Collection => self.waited(Collection::decode(frame.payload)?),
            // The worker closes the lane next.
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

    /// The application sent early hints.
    fn hinted(&self, hints: &Hints<'_>) {
        let waiting = self.lane.in_flight().waiting(hints.id);
        if let Some(exchange) = waiting {
            exchange.hint(&hint_fields(hints.headers));
        }
    }

    /// A request waited for the garbage collector.
    fn waited(&self, collection: Collection) {
        let waiting = self.lane.in_flight().waiting(collection.request);
        if let Some(exchange) = waiting {
            exchange.collection_micros.set(collection.micros);
        }
        let worker = self.lane.tag.worker;
        WorkerRests::of(self.dispatcher).waited(worker, collection, self.now);
    }

    /// The application replied.
    fn replied(
        &self,
        payload: &Bytes,
        descriptor: impl FnOnce() -> Result<SlowFile, MissingDescriptors>,
    ) -> Result<(), Malformed> {
        let reply = Response::decode(payload)?;
        let file = reply.body.has_descriptor().then(descriptor).transpose();
        let Some(exchange) = self.lane.in_flight().waiting(reply.id) else {
            // The request was given up, its client is gone, or it already has a reply.
            self.decline(&reply);
            return Ok(());
        };
        let times = self.times(&exchange, reply.app_micros);
        self.lane.note_service_time(times.app());
        if matches!(file, Err(MissingDescriptors::Lost)) {
            self.lose_reply(reply.id, &exchange);
            return Ok(());
        }
        let file = file.ok().flatten();
        let parts = &exchange.call.parts;
        let made = reply_response(&reply, payload, parts, file, |socket| {
            self.live(reply.id, &exchange, socket)
        });
        let made = made.map(|response| self.prepared(response));
        let pool = self.dispatcher.queue.pool(&exchange);
        pool.queue.note_served(times.queue);
        if self.lane.in_flight().is_slow(reply.id) {
            self.report_slow(&exchange, &times);
        }
        self.release_unless_live(&reply, made.is_ok(), &exchange);
        exchange.settle(match made {
            Ok((Some(spooled), response)) => Ok(Reply {
                response,
                spooled,
                times,
            }),
            Ok((None, _)) => Err(Refusal::ResponseNotStored),
            Err(invalid) => {
                self.decline(&reply);
                self.dispatcher.log.error(
                    "invalid response refused",
                    &[("request", &LoggedRequest(&exchange)), ("cause", &invalid)],
                );
                Err(Refusal::InvalidResponse)
            }
        });
        Ok(())
    }

    /// How long a request waited for its thread, for the application, and for garbage collections.
    pub(super) fn times(&self, exchange: &Exchange, app_micros: u32) -> RequestTimes {
        let begun = exchange.arrived + Duration::from_micros(app_micros.into());
        RequestTimes {
            queue: self.now.saturating_duration_since(begun),
            app_micros,
            collection_micros: exchange.collection_micros.get(),
        }
    }

    /// Removes the request from the lane, unless its body is still sent or its connection was taken over.
    fn release_unless_live(&self, reply: &Response<'_>, is_valid: bool, exchange: &Exchange) {
        match reply.body {
            ResponseBody::Tunnel => {
                self.lane.in_flight_mut().take_over(reply.id, self.now);
            }
            ResponseBody::Stream if is_valid => {}
            ResponseBody::None
            | ResponseBody::Inline(_)
            | ResponseBody::File { .. }
            | ResponseBody::Stream => {
                self.lane.release(reply.id, self.now);
                exchange.call.discard_body();
            }
        }
    }

    /// Notes the worker's generation in the response, and reserves the disk space of its spooled body in `spool_limit`.
    /// The reservation is `None` if there is no room.
    fn prepared(
        &self,
        mut response: http::Response<ReplyBody>,
    ) -> (Option<SpoolReservation>, http::Response<ReplyBody>) {
        response.body_mut().generation = NonZeroU32::new(self.lane.generation());
        (self.reserve(&response), response)
    }

    /// Logs the reply to a request that was logged as slow.
    fn report_slow(&self, exchange: &Exchange, times: &RequestTimes) {
        let seconds = |time: Duration| format!("{:.3}", time.as_secs_f64());
        self.dispatcher.log.warn(
            "response to a slow request",
            &[
                ("lane", &self.lane.tag),
                ("request", &LoggedRequest(exchange)),
                ("queued_for", &seconds(times.queue)),
                ("ran_for", &seconds(times.app())),
            ],
        );
    }

    /// The application replied with a file, and this process could not open its descriptor.
    fn lose_reply(&self, id: u32, exchange: &Exchange) {
        self.lane.release(id, self.now);
        exchange.call.discard_body();
        self.dispatcher.log.error(
            "response lost: too many files are open",
            &[("request", &LoggedRequest(exchange))],
        );
        exchange.settle(Err(Refusal::ReplyLost));
    }

    /// Sends a request once more, to any lane that is free: its worker had too many files open to receive its
    /// descriptors, and has collected its garbage since. A second failure refuses the request.
    fn not_received(&self, id: u32) {
        let Some(InFlightRequest { stage, .. }) = self.lane.release(id, self.now) else {
            return;
        };
        self.lane.usage.take_back(1);
        if let RequestStage::Waiting(exchange) = stage {
            if exchange.resent.replace(true) {
                let message = "request not received: its worker has too many files open";
                report_request(message, self.lane, &exchange, &self.dispatcher.log);
                exchange.settle(Err(Refusal::NoDescriptors));
            } else {
                self.dispatcher.requeue(&[exchange]);
            }
        }
        let exhausted = LaneEvent::DescriptorsLost(self.lane.tag);
        self.dispatcher.events.send(exhausted);
    }

    /// Counts a file that a worker has spooled against `spool_limit`; `None` when the limit would be exceeded. Files
    /// that the application named do not count.
    fn reserve(&self, response: &http::Response<ReplyBody>) -> Option<SpoolReservation> {
        let reservation = SpoolReservation::of(&self.dispatcher.spool_quota);
        let fits = match &response.body().content {
            ReplyContent::File(range) => range.allows_ranges || reservation.grow(range.length),
            ReplyContent::Full(_)
            | ReplyContent::Stored(_)
            | ReplyContent::Stream(_)
            | ReplyContent::Tunnel(_) => true,
        };
        fits.then_some(reservation)
    }

    /// Aborts a streamed reply that nobody reads, so that the worker does not wait for credit.
    fn decline(&self, reply: &Response<'_>) {
        if reply.body == ResponseBody::Stream {
            self.lane
                .outbox
                .push(|out| stream::encode_abort(out, reply.id));
        }
    }

    /// A tunnel if there is a socket; otherwise a streamed body.
    fn live(&self, id: u32, exchange: &Exchange, socket: Option<SlowFile>) -> ReplyBody {
        match socket {
            Some(socket) => self.tunnel(socket, false),
            None => self.stream(id, exchange),
        }
    }

    /// A body whose chunks follow on the lane.
    fn stream(&self, id: u32, exchange: &Exchange) -> ReplyBody {
        let lane = Rc::clone(self.lane);
        let source = LaneReplySource { lane, id };
        let memory = &exchange.call.memory;
        let credit = self.lane.in_flight_mut().take_credit(id);
        let credit = credit.unwrap_or_else(|| StreamCredit::of(memory.memory()));
        let held = MemoryReservation::of(memory);
        let (sender, stream) = reply_stream(Box::new(source), held, credit);
        self.lane.in_flight_mut().stream(id, sender, self.now);
        ReplyContent::Stream(stream).into()
    }

    fn with_stream(&self, id: u32, act: impl FnOnce(&ReplySender)) {
        let in_flight = self.lane.in_flight();
        if let Some(RequestStage::Streaming(sender, _)) =
            in_flight.get(id).map(|found| &found.stage)
        {
            act(sender);
        }
    }

    /// Ends a streamed reply, or a connection that the application has taken over.
    fn streamed(&self, id: u32, end: impl FnOnce(&ReplySender)) {
        let Some(request) = self.lane.release(id, self.now) else {
            return;
        };
        match request.stage {
            RequestStage::Streaming(sender, _) => {
                let lasted = self.now.saturating_duration_since(request.since);
                self.lane.note_service_time(lasted);
                end(&sender);
            }
            RequestStage::TakenOver => {
                let lasted = self.now.saturating_duration_since(request.since);
                self.lane.note_service_time(lasted);
            }
            // The edge recalled the request just as the worker took it, and the worker skipped it.
            RequestStage::Waiting(exchange) => {
                self.lane.usage.take_back(1);
                self.dispatcher.requeue(&[exchange]);
            }
        }
    }
}

/// Tells a worker how far the client has read its streamed reply.
struct LaneReplySource {
    lane: Rc<Lane>,
    id: u32,
}

impl ReplySource for LaneReplySource {
    fn grant(&self, bytes: u32) {
        self.lane
            .outbox
            .push(|out| Window { id: self.id, bytes }.encode(out));
    }

    fn abandoned(&self) {
        self.lane
            .outbox
            .push(|out| stream::encode_abort(out, self.id));
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Waker;

    use carat_wire::EncodedHeaders;
    use carat_wire::request::encode_descriptors_lost;
    use carat_wire::response::{ResponseHead, body, encode};

    use super::*;
    use crate::PendingReply;
    use crate::fixture::{Fixture, locally};

    fn outcome(pending: PendingReply) -> Poll<Result<Reply, Refusal>> {
        pin!(pending).poll(&mut Context::from_waker(Waker::noop()))
    }

    /// The worker of this lane sends a frame whose descriptor is lost.
    fn receive(fixture: &Fixture, lane: usize, send: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = Vec::new();
        send(&mut bytes);
        let frame = Frame::first(&bytes).expect("well formed");
        let batch = FrameBatch {
            lane: &fixture.lanes[lane],
            dispatcher: &fixture.dispatcher,
            now: Instant::now(),
        };
        let taken = batch.take(frame.expect("complete"), || Err(MissingDescriptors::Lost));
        taken.expect("well formed");
    }

    #[test]
    fn a_request_whose_descriptors_were_lost_is_sent_again_once() {
        locally(|| {
            let mut fixture = Fixture::new(&[1, 1]);
            let pending = fixture.dispatch("POST", "/");
            let first = usize::from(fixture.lanes[0].is_empty());
            receive(&fixture, first, |out| encode_descriptors_lost(out, 1));
            assert_eq!(fixture.lanes[first].begun_count(), 0);
            let second = usize::from(fixture.lanes[0].is_empty());
            let lost = fixture.lanes[second].ids()[0];
            receive(&fixture, second, |out| encode_descriptors_lost(out, lost));
            let found = outcome(pending);
            assert!(matches!(found, Poll::Ready(Err(Refusal::NoDescriptors))));
            assert_eq!(fixture.load(), [0, 0]);
            for lane in [first, second] {
                let expected = LaneEvent::DescriptorsLost(fixture.lanes[lane].tag);
                assert_eq!(fixture.events.try_recv(), Ok(expected));
            }
        });
    }

    #[test]
    fn a_file_that_was_lost_costs_its_response_alone() {
        locally(|| {
            let mut fixture = Fixture::new(&[256]);
            let (lost, other) = (fixture.dispatch("POST", "/"), fixture.dispatch("GET", "/"));
            let head = |id| ResponseHead {
                id,
                status: 200,
                app_micros: 0,
            };
            receive(&fixture, 0, |out| {
                encode(out, head(1), EncodedHeaders::default(), |out| {
                    body::file(out, 0, 9, false);
                });
            });
            receive(&fixture, 0, |out| {
                encode(out, head(2), EncodedHeaders::default(), body::none);
            });
            let found = outcome(lost);
            assert!(matches!(found, Poll::Ready(Err(Refusal::ReplyLost))));
            assert!(matches!(outcome(other), Poll::Ready(Ok(_))));
            assert!(fixture.lanes[0].is_empty() && fixture.events.try_recv().is_err());
        });
    }
}
