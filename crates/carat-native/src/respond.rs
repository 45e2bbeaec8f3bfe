//! How a slot responds to its request.

use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::time::Instant;

use carat_lane::{LaneSession, OutgoingBody, Progress, Step, StreamEnd, WaitFor};
use magnus::{Error, RString, Ruby, Value};
use rustix::io::{Errno, fcntl_dupfd_cloexec};

use crate::collector::close_forgotten_files;
use crate::error;
use crate::inline_body::InlineBody;
use crate::io::borrow;
use crate::response_head::{self, Shape};
use crate::slot::Slot;

type Body = OutgoingBody<InlineBody>;

impl Slot {
    /// Responds with an Array of Strings. Returns false, and does nothing, when Ruby has to convert something first.
    pub(crate) fn respond_inline(
        ruby: &Ruby,
        slot: &Slot,
        status: Value,
        headers: Value,
        body: Value,
    ) -> Result<bool, Error> {
        match InlineBody::of(ruby, body) {
            Some(pieces) => slot.respond(ruby, status, headers, Body::Inline(pieces)),
            None => Ok(false),
        }
    }

    /// Responds without a body. Returns false as `respond_inline`.
    pub(crate) fn respond_empty(
        ruby: &Ruby,
        slot: &Slot,
        status: Value,
        headers: Value,
    ) -> Result<bool, Error> {
        slot.respond(ruby, status, headers, Body::Empty)
    }

    /// Responds with part of an open file: its descriptor, which stays the caller's, an offset and a length in bytes, and
    /// whether the client may ask for ranges of it. Returns false as `respond_inline`. Raises `Errno::EMFILE`.
    pub(crate) fn respond_file(
        ruby: &Ruby,
        slot: &Slot,
        status: Value,
        headers: Value,
        (file, offset, length, allows_ranges): (RawFd, u64, u64, bool),
    ) -> Result<bool, Error> {
        // SAFETY: the caller holds the file open during this call.
        let file = unsafe { BorrowedFd::borrow_raw(file) };
        let file = duplicate(ruby, file)?;
        let body = Body::File {
            file,
            offset,
            length,
            allows_ranges,
        };
        slot.respond(ruby, status, headers, body)
    }

    /// Begins a response whose body follows by `write`. Returns false as `respond_inline`.
    pub(crate) fn open_stream(
        ruby: &Ruby,
        slot: &Slot,
        status: Value,
        headers: Value,
    ) -> Result<bool, Error> {
        slot.respond(ruby, status, headers, Body::Stream)
    }

    /// Sends a part of the body, as fast as the client reads it. Raises `ClientGone`.
    pub(crate) fn write(ruby: &Ruby, slot: &Slot, data: RString) -> Result<(), Error> {
        let Some(id) = slot.streaming.get() else {
            return Err(error::client_gone(ruby));
        };
        let lane = slot.lane(ruby);
        let mut sent = 0;
        while sent < data.len() {
            let progress = lane.drive(ruby, WaitFor::Update(id), |session, socket| {
                // SAFETY: no Ruby code runs while the slice is used.
                let bytes = unsafe { data.as_slice() };
                match bytes.get(sent..) {
                    None | Some([]) => Ok(Step::Done(Progress::Sent(0))),
                    Some(rest) => session.send_piece(socket, id, rest),
                }
            })?;
            match progress {
                Progress::Sent(count) => sent += count,
                Progress::Gone => return Err(error::client_gone(ruby)),
            }
        }
        Ok(())
    }

    /// Completes the streamed body.
    pub(crate) fn close_stream(ruby: &Ruby, slot: &Slot) -> Result<(), Error> {
        slot.end_stream(ruby, StreamEnd::Complete)
    }

    /// Breaks off the streamed body: the client sees that it is incomplete.
    pub(crate) fn abort_stream(ruby: &Ruby, slot: &Slot) -> Result<(), Error> {
        slot.end_stream(ruby, StreamEnd::Aborted)
    }

    fn end_stream(&self, ruby: &Ruby, end: StreamEnd) -> Result<(), Error> {
        let Some(id) = self.streaming.take() else {
            return Ok(());
        };
        let lane = self.lane(ruby);
        let socket = lane.io.socket(ruby)?;
        let mut session = borrow(ruby, &lane.session)?;
        session.end_stream(id, end);
        let flushed = session.flush(socket);
        drop(session);
        flushed.map_err(|failure| error::link(ruby, failure))?;
        lane.end_if_drained(ruby)
    }

    fn respond(
        &self,
        ruby: &Ruby,
        status: Value,
        headers: Value,
        body: Body,
    ) -> Result<bool, Error> {
        let lane = self.lane(ruby);
        let socket = lane.io.socket(ruby)?;
        let mut head = borrow(ruby, &lane.head)?;
        if response_head::read(ruby, &mut head, status, headers)? == Shape::Other {
            return Ok(false);
        }
        let mut session = borrow(ruby, &lane.session)?;
        let Some(request) = self.current.take() else {
            return Err(error::link(ruby, "no request waits for a response"));
        };
        let is_streamed =
            LaneSession::respond(&mut session, request, &mut head, body, Instant::now());
        self.streaming.set(is_streamed.then_some(request.id));
        let relieved = session.relieve(socket);
        drop((session, head));
        relieved.map_err(|failure| error::link(ruby, failure))?;
        lane.end_if_drained(ruby)?;
        Ok(true)
    }
}

/// A second descriptor of the file. When too many are open, those that the application forgot to close are closed first.
fn duplicate(ruby: &Ruby, file: BorrowedFd<'_>) -> Result<OwnedFd, Error> {
    let mut duplicated = fcntl_dupfd_cloexec(file, 0);
    if duplicated.as_ref().err() == Some(&Errno::MFILE) {
        close_forgotten_files(ruby)?;
        duplicated = fcntl_dupfd_cloexec(file, 0);
    }
    duplicated.map_err(|errno| error::system_call(ruby, errno))
}
