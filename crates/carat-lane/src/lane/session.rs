//! A lane in the worker: frames in, frames out, and what to do next.

use std::collections::VecDeque;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Instant;

use carat_link::{Fill, Flush, Inbox, MissingDescriptors, Outbox};
use carat_wire::control::encode_signal;
use carat_wire::request::encode_descriptors_lost;
use carat_wire::stream::{Window, encode_abort, encode_chunk};
use carat_wire::{Collection, CollectionDue, Hello, Kind, Request, RequestBody, SocketKind};

use crate::lane::body_receiver::{BodyReceiver, BodyStatus};
use crate::lane::fairness::Fairness;
use crate::lane::flush_policy::FlushPolicy;
use crate::lane::in_flight::InFlight;
use crate::link_error::{self, LinkError};
use crate::step::{Readiness, Step};

/// Responses are sent at the latest when the outbox holds this many bytes.
const OUTBOX_LIMIT: usize = 64 * 1024;

/// The most bytes of requests that are kept while the reader waits for something else. The edge stops at half of that.
const HELD_LIMIT: usize = 16 * 1024 * 1024;

/// The state of one lane.
#[derive(Debug, Default)]
pub struct LaneSession {
    inbox: Inbox,
    pub(crate) outbox: Outbox,
    pub(crate) flush_policy: FlushPolicy,
    pub(crate) in_flight: InFlight,
    /// Requests that arrived while the reader waited for something else.
    held: VecDeque<HeldRequest>,
    held_bytes: usize,
    fairness: Fairness,
    /// Whether the lane has a reader: a slot that waits for the socket.
    pub is_read: bool,
    /// Whether the slot that takes requests lets the other slots of its thread run, and then continues.
    pub is_paused: bool,
    /// The edge has closed the socket.
    is_gone: bool,
}

/// A request until it is taken.
#[derive(Debug)]
struct HeldRequest {
    payload: Vec<u8>,
    has_first_descriptor: bool,
}

/// The outcome of taking the request at the front.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TakenRequest<T> {
    /// The request was handed over.
    Request(T),
    /// Too many files are open to receive the descriptors of the request with this id.
    DescriptorsLost(u32),
}

/// The descriptors that travelled beside a request.
pub struct Descriptors {
    /// The body, when it is in a file.
    pub body: Option<OwnedFd>,
    /// The files of a form; `None` for one whose content is in the body.
    pub files: Vec<Option<OwnedFd>>,
}

/// The outcome of sending a piece of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// A number of bytes are on their way.
    Sent(usize),
    /// The client is gone.
    Gone,
}

impl LaneSession {
    /// Appends the greeting. `capacity` is how many requests the lane takes at once, `is_shared` whether one thread
    /// serves them in turns.
    pub fn push_hello(&mut self, capacity: u16, is_shared: bool) {
        if is_shared {
            self.fairness.share();
        }
        let hello = Hello::new(SocketKind::Lane, std::process::id(), capacity);
        hello.encode(self.outbox.buffer());
    }

    /// Appends that the lane closes.
    pub fn push_bye(&mut self) {
        encode_signal(self.outbox.buffer(), Kind::Bye);
    }

    /// Brings the next request to the front: `Done(false)` when no request follows.
    pub fn next(&mut self, socket: BorrowedFd<'_>, now: Instant) -> Result<Step<bool>, LinkError> {
        while !self.is_gone {
            if self.has_held() || self.is_request_next()? {
                return self.make_way(socket, now);
            }
            if self.in_flight.is_draining() {
                return Ok(Step::Done(false));
            }
            if let Some(readiness) = self.fetch(socket)? {
                return Ok(Step::Wait(readiness));
            }
        }
        Ok(Step::Done(false))
    }

    /// Takes the request at the front and hands it to `with`, together with its descriptors.
    pub fn take<T>(
        &mut self,
        with: impl FnOnce(&Request<'_>, Descriptors) -> T,
    ) -> Result<TakenRequest<T>, LinkError> {
        let held = self.held.pop_front();
        let (payload, is_first) = match &held {
            Some(held) => (&held.payload[..], held.has_first_descriptor),
            None => match self.inbox.frames.next()? {
                Some(frame) => (frame.payload, frame.has_first_descriptor),
                None => (&[][..], false),
            },
        };
        self.held_bytes -= held.as_ref().map_or(0, |held| held.payload.len());
        let request = Request::decode(payload)?;
        let has_body = matches!(request.body, RequestBody::File { .. });
        let count = usize::from(has_body) + request.files.iter().filter(|apart| *apart).count();
        let mut arrived = match count {
            0 => None,
            _ => match self.inbox.descriptors.take(count, is_first) {
                Ok(own) => Some(own),
                Err(MissingDescriptors::Lost) => {
                    return Ok(TakenRequest::DescriptorsLost(request.head.id));
                }
                Err(error) => return Err(error.into()),
            },
        };
        if request.head.has_short_window {
            self.in_flight.note_short_window(request.head.id);
        }
        let mut own = |travels: bool| arrived.as_mut().filter(|_| travels)?.next();
        let descriptors = Descriptors {
            body: own(has_body),
            files: request.files.iter().map(own).collect(),
        };
        Ok(TakenRequest::Request(with(&request, descriptors)))
    }

    /// The application begins request `id`; `is_streamed` when its body follows in chunks.
    pub fn begin(&mut self, id: u32, is_streamed: bool) {
        self.in_flight.begin(id, is_streamed);
    }

    /// Appends that request `id` was recalled, and is skipped.
    pub fn skip(&mut self, id: u32) {
        self.in_flight.take_short_window(id);
        encode_abort(self.outbox.buffer(), id);
    }

    /// Appends that the descriptors of request `id` were lost: the edge sends it again.
    pub fn report_descriptors_lost(&mut self, id: u32) {
        encode_descriptors_lost(self.outbox.buffer(), id);
    }

    /// Sends a part of `data` as a piece of the response to request `id`.
    pub fn send_piece(
        &mut self,
        socket: BorrowedFd<'_>,
        id: u32,
        data: &[u8],
    ) -> Result<Step<Progress>, LinkError> {
        self.listen(socket)?;
        let is_blocked = self.send(socket)? == Flush::Blocked;
        let is_gone = self.is_gone;
        let stream = self.in_flight.stream(id);
        let Some(stream) = stream.filter(|stream| !stream.is_aborted && !is_gone) else {
            return Ok(Step::Done(Progress::Gone));
        };
        if is_blocked {
            return Ok(Step::Wait(Readiness::Writable));
        }
        let piece = stream.admit(data);
        if piece.is_empty() {
            return Ok(Step::Wait(Readiness::Readable));
        }
        encode_chunk(self.outbox.buffer(), id, piece);
        self.send(socket)?;
        Ok(Step::Done(Progress::Sent(piece.len())))
    }

    /// Waits until the body of request `id` has something to read. `None` when that request is over.
    pub fn await_body(
        &mut self,
        socket: BorrowedFd<'_>,
        id: u32,
    ) -> Result<Step<Option<BodyStatus>>, LinkError> {
        loop {
            self.hold_requests()?;
            let Some(body) = self.in_flight.body(id) else {
                return Ok(Step::Done(None));
            };
            if let Some(bytes) = body.grant() {
                Window { id, bytes }.encode(self.outbox.buffer());
            }
            let status = body.status();
            if status != BodyStatus::Pending {
                self.send(socket)?;
                return Ok(Step::Done(Some(status)));
            }
            if let Some(readiness) = self.fetch(socket)? {
                return Ok(Step::Wait(readiness));
            }
        }
    }

    /// The streamed body of request `id`, while that is in flight.
    pub fn body(&mut self, id: u32) -> Option<&mut BodyReceiver> {
        self.in_flight.body(id)
    }

    /// Sends the outbox. A socket whose other end is closed takes everything.
    pub fn flush(&mut self, socket: BorrowedFd<'_>) -> Result<Step<()>, LinkError> {
        Ok(match self.send(socket)? {
            Flush::Done => Step::Done(()),
            Flush::Blocked => Step::Wait(Readiness::Writable),
        })
    }

    /// Appends that the thread runs code after its response.
    pub fn linger(&mut self) {
        encode_signal(self.outbox.buffer(), Kind::Lingers);
    }

    /// Appends that a full garbage collection is due in this process.
    pub fn report_collection_due(&mut self, due: CollectionDue) {
        due.encode(self.outbox.buffer());
    }

    /// Appends for how long a request waited for full garbage collections. Its response comes later.
    pub fn report_collection(&mut self, collection: Collection) {
        collection.encode(self.outbox.buffer());
    }

    /// Whether the outbox has to be sent before more is appended.
    pub fn is_full(&self) -> bool {
        self.outbox.len() > OUTBOX_LIMIT
    }

    /// Sends the outbox if it is full.
    pub fn relieve(&mut self, socket: BorrowedFd<'_>) -> Result<(), LinkError> {
        if self.is_full() {
            self.send(socket)?;
        }
        Ok(())
    }

    /// The lane takes no further request.
    pub fn drain(&mut self) {
        self.in_flight.drain();
    }

    /// Notes that others have to run before the next request.
    pub fn yield_before_next(&mut self) {
        self.fairness.owe();
    }

    /// The waiting slot continues: others have run meanwhile.
    pub fn resumed(&mut self, now: Instant) {
        self.fairness.resumed(now);
    }

    /// Whether a request is held: it arrived while the reader waited for something else.
    pub fn has_held(&self) -> bool {
        !self.held.is_empty()
    }

    /// The requests for which something has arrived since the last call, and whether a new one waits.
    pub fn take_updates(&mut self) -> (Vec<u32>, bool) {
        (self.in_flight.take_updated(), self.has_held())
    }

    /// Whether no further request is taken.
    pub fn is_over(&self) -> bool {
        self.is_gone || self.in_flight.is_draining()
    }

    /// Whether the lane drains and no request is in flight, so that the edge sends nothing more.
    pub fn is_drained(&self) -> bool {
        !self.is_gone && self.in_flight.is_drained()
    }

    /// Sends responses and lets others run before the next request, when that is due.
    fn make_way(&mut self, socket: BorrowedFd<'_>, now: Instant) -> Result<Step<bool>, LinkError> {
        let must_yield = self.fairness.is_due(now);
        let must_flush = must_yield || self.is_full() || self.flush_policy.is_due(now);
        if must_flush && self.send(socket)? == Flush::Blocked {
            return Ok(Step::Wait(Readiness::Writable));
        }
        Ok(if must_yield {
            Step::Yield
        } else {
            Step::Done(true)
        })
    }

    /// Whether the next frame is a request; handles the frames in front of it.
    fn is_request_next(&mut self) -> Result<bool, LinkError> {
        while let Some(frame) = self.inbox.frames.peek()? {
            if frame.kind == Kind::Request {
                return Ok(true);
            }
            if let Some(frame) = self.inbox.frames.next()? {
                self.in_flight.handle(frame)?;
            }
        }
        Ok(false)
    }

    fn send(&mut self, socket: BorrowedFd<'_>) -> Result<Flush, LinkError> {
        if self.is_gone || self.outbox.is_empty() {
            return Ok(Flush::Done);
        }
        let flush = match self.outbox.flush(socket) {
            Ok(flush) => flush,
            Err(error) if link_error::is_closed(&error) => {
                self.is_gone = true;
                Flush::Done
            }
            Err(error) => return Err(error.into()),
        };
        if flush == Flush::Done {
            self.flush_policy.sent();
        }
        Ok(flush)
    }

    /// Sends the outbox and reads what is there, or says what to wait for.
    fn fetch(&mut self, socket: BorrowedFd<'_>) -> Result<Option<Readiness>, LinkError> {
        if self.send(socket)? == Flush::Blocked {
            return Ok(Some(Readiness::Writable));
        }
        if self.is_read || !self.fairness.may_read() {
            return Ok(Some(Readiness::Readable));
        }
        match self.inbox.fill(socket)? {
            Fill::Bytes { .. } => Ok(None),
            Fill::Blocked => Ok(Some(Readiness::Readable)),
            Fill::Closed => {
                // A lane that drains closes this direction itself; the edge may still read what is sent.
                self.is_gone = !self.in_flight.is_draining();
                self.in_flight.cut();
                Ok(None)
            }
        }
    }

    /// Reads what is there, unless another waiter reads, and keeps the requests for later.
    fn listen(&mut self, socket: BorrowedFd<'_>) -> Result<(), LinkError> {
        loop {
            self.hold_requests()?;
            if self.is_read {
                return Ok(());
            }
            match self.inbox.fill(socket)? {
                Fill::Bytes { .. } => {}
                Fill::Blocked => return Ok(()),
                Fill::Closed => {
                    self.is_gone = true;
                    return Ok(());
                }
            }
        }
    }

    fn hold_requests(&mut self) -> Result<(), LinkError> {
        while self.is_request_next()? {
            if let Some(frame) = self.inbox.frames.next()? {
                self.held_bytes += frame.payload.len();
                self.held.push_back(HeldRequest {
                    payload: frame.payload.to_vec(),
                    has_first_descriptor: frame.has_first_descriptor,
                });
            }
            if self.held_bytes > HELD_LIMIT {
                return Err(LinkError::TooFarAhead);
            }
        }
        Ok(())
    }
}
