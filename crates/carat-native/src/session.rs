//! One lane's talk with the edge: frames in, frames out, and what to do next. It knows no Ruby.

use std::collections::VecDeque;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Instant;

use carat_link::{Fill, Flush, Inbox, Outbox};
use carat_wire::stream::{encode_chunk, encode_window};
use carat_wire::{Kind, Request, RequestBody};

use crate::failure::Failure;
use crate::fairness::Fairness;
use crate::intake::Arrived;
use crate::io::{Readiness, Step};
use crate::patience::Patience;
use crate::talks::Talks;

/// Answers are sent at the latest when this many bytes wait.
const OUTBOX_LIMIT: usize = 64 * 1024;

/// Most bytes of requests that are kept while somebody waits for something else. The edge sends few ahead.
const HELD_LIMIT: usize = 16 * 1024 * 1024;

/// The state of one lane.
#[derive(Default)]
pub(crate) struct Session {
    inbox: Inbox,
    pub(crate) outbox: Outbox,
    pub(crate) patience: Patience,
    pub(crate) talks: Talks,
    /// Requests that arrived while somebody waited for something else.
    held: VecDeque<Vec<u8>>,
    pub(crate) fairness: Fairness,
    /// Whether somebody waits for the socket, and so is the one to read it.
    pub(crate) is_read: bool,
    /// Whether the one who takes requests lets others have their turn, and then goes on.
    pub(crate) is_paused: bool,
    /// The edge has closed the socket.
    is_gone: bool,
}

/// What travelled beside a request.
pub(crate) struct Descriptors {
    /// The body, when it is in a file.
    pub(crate) body: Option<OwnedFd>,
    /// The files of a form; `None` for one whose content is in the body.
    pub(crate) files: Vec<Option<OwnedFd>>,
}

/// What became of a piece of a stream.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Progress {
    /// So many bytes are on their way.
    Sent(usize),
    /// Nobody wants them.
    Gone,
}

impl Session {
    /// Brings the next request to the front: `Done(false)` when there is none any more.
    pub(crate) fn next(
        &mut self,
        socket: BorrowedFd<'_>,
        now: Instant,
    ) -> Result<Step<bool>, Failure> {
        while !self.is_gone {
            if self.has_held() || self.is_next(Kind::Request)? {
                return self.make_way(socket, now);
            }
            if self.talks.is_draining() {
                return Ok(Step::Done(false));
            }
            if let Some(readiness) = self.fetch(socket)? {
                return Ok(Step::Wait(readiness));
            }
        }
        Ok(Step::Done(false))
    }

    /// Hands the request at the front to `with`, together with its descriptors.
    pub(crate) fn take<T>(
        &mut self,
        with: impl FnOnce(&Request<'_>, Descriptors) -> T,
    ) -> Result<T, Failure> {
        let held = self.held.pop_front();
        let payload = match &held {
            Some(payload) => payload,
            None => self
                .inbox
                .frames
                .next()?
                .map_or(&[][..], |frame| frame.payload),
        };
        let request = Request::decode(payload)?;
        let arrived = &mut self.inbox.descriptors;
        let mut due = |travels: bool| {
            let descriptor = travels.then(|| arrived.pop_front().ok_or(Failure::NoDescriptor));
            descriptor.transpose()
        };
        let descriptors = Descriptors {
            body: due(matches!(request.body, RequestBody::File { .. }))?,
            files: request.files.iter().map(due).collect::<Result<_, _>>()?,
        };
        Ok(with(&request, descriptors))
    }

    /// Sends a part of `data` as a piece of the answer to request `id`.
    pub(crate) fn send_piece(
        &mut self,
        socket: BorrowedFd<'_>,
        id: u32,
        data: &[u8],
    ) -> Result<Step<Progress>, Failure> {
        self.listen(socket)?;
        let blocked = self.flush(socket)? == Flush::Blocked;
        let is_gone = self.is_gone;
        let wanted = self
            .talks
            .stream(id)
            .filter(|stream| !stream.is_aborted && !is_gone);
        let Some(stream) = wanted else {
            return Ok(Step::Done(Progress::Gone));
        };
        if blocked {
            return Ok(Step::Wait(Readiness::Writable));
        }
        let piece = stream.admit(data);
        if piece.is_empty() {
            return Ok(Step::Wait(Readiness::Readable));
        }
        encode_chunk(self.outbox.buffer(), id, piece);
        self.flush(socket)?;
        Ok(Step::Done(Progress::Sent(piece.len())))
    }

    /// Waits until the body of request `id` has something to read; `None` when that request is over.
    pub(crate) fn await_body(
        &mut self,
        socket: BorrowedFd<'_>,
        id: u32,
    ) -> Result<Step<Option<Arrived>>, Failure> {
        loop {
            self.hold_requests()?;
            let Some(intake) = self.talks.intake(id) else {
                return Ok(Step::Done(None));
            };
            if let Some(bytes) = intake.grant() {
                encode_window(self.outbox.buffer(), id, bytes);
            }
            let arrived = intake.arrived();
            if arrived != Arrived::Nothing {
                self.flush(socket)?;
                return Ok(Step::Done(Some(arrived)));
            }
            if let Some(readiness) = self.fetch(socket)? {
                return Ok(Step::Wait(readiness));
            }
        }
    }

    /// Sends what waits; a socket whose other end is gone takes everything.
    pub(crate) fn flush(&mut self, socket: BorrowedFd<'_>) -> Result<Flush, Failure> {
        if self.is_gone || self.outbox.is_empty() {
            return Ok(Flush::Done);
        }
        let flush = match self.outbox.flush(socket) {
            Ok(flush) => flush,
            Err(error) if Failure::is_gone(&error) => {
                self.is_gone = true;
                Flush::Done
            }
            Err(error) => return Err(error.into()),
        };
        if flush == Flush::Done {
            self.patience.sent();
        }
        Ok(flush)
    }

    /// Sends what waits if that is too much to go on.
    pub(crate) fn relieve(&mut self, socket: BorrowedFd<'_>) -> Result<(), Failure> {
        if self.outbox.len() > OUTBOX_LIMIT {
            self.flush(socket)?;
        }
        Ok(())
    }

    /// Whether a request waits that somebody has read who wanted something else.
    pub(crate) fn has_held(&self) -> bool {
        !self.held.is_empty()
    }

    /// What others may wait for and has come since the last time: news about these requests, and any request.
    pub(crate) fn take_news(&mut self) -> (Vec<u32>, bool) {
        (self.talks.take_news(), self.has_held())
    }

    /// Whether no further request is taken.
    pub(crate) fn is_over(&self) -> bool {
        self.is_gone || self.talks.is_draining()
    }

    /// Whether the edge has nothing to say any more.
    pub(crate) fn is_drained(&self) -> bool {
        !self.is_gone && self.talks.is_drained()
    }

    /// What cannot wait goes before the next request: answers, and other fibers.
    fn make_way(&mut self, socket: BorrowedFd<'_>, now: Instant) -> Result<Step<bool>, Failure> {
        let must_pause = self.fairness.is_over(now);
        let is_full = self.outbox.len() > OUTBOX_LIMIT;
        let must_flush = must_pause || is_full || self.patience.is_over(now);
        if must_flush && self.flush(socket)? == Flush::Blocked {
            return Ok(Step::Wait(Readiness::Writable));
        }
        Ok(if must_pause {
            Step::Pause
        } else {
            Step::Done(true)
        })
    }

    /// Whether the next frame is of this kind; frames that are no requests are dealt with on the way.
    fn is_next(&mut self, kind: Kind) -> Result<bool, Failure> {
        while let Some(frame) = self.inbox.frames.peek()? {
            if frame.kind == kind {
                return Ok(true);
            }
            if let Some(frame) = self.inbox.frames.next()? {
                self.talks.note(frame)?;
            }
        }
        Ok(false)
    }

    /// Sends what waits and reads what is there, or tells what to wait for.
    fn fetch(&mut self, socket: BorrowedFd<'_>) -> Result<Option<Readiness>, Failure> {
        if self.flush(socket)? == Flush::Blocked {
            return Ok(Some(Readiness::Writable));
        }
        if self.is_read || !self.fairness.may_read() {
            return Ok(Some(Readiness::Readable));
        }
        match self.inbox.fill(socket)? {
            Fill::Bytes { .. } => Ok(None),
            Fill::Blocked => Ok(Some(Readiness::Readable)),
            Fill::Closed => {
                // `drain` has closed this direction; the edge may still be there for what is sent.
                self.is_gone = !self.talks.is_draining();
                self.talks.cut();
                Ok(None)
            }
        }
    }

    /// Reads whatever is there, if nobody else does, and keeps the requests for later.
    fn listen(&mut self, socket: BorrowedFd<'_>) -> Result<(), Failure> {
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

    fn hold_requests(&mut self) -> Result<(), Failure> {
        while self.is_next(Kind::Request)? {
            if let Some(frame) = self.inbox.frames.next()? {
                self.held.push_back(frame.payload.to_vec());
            }
            let held_bytes: usize = self.held.iter().map(Vec::len).sum();
            if held_bytes > HELD_LIMIT {
                return Err(Failure::TooFarAhead);
            }
        }
        Ok(())
    }
}
