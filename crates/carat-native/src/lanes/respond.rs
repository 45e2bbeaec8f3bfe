//! How a slot responds to its request.

use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::time::Instant;

use carat_lane::{HeadEncoder, LaneSession, OutgoingBody, Progress, Step, StreamEnd, WaitFor};
use magnus::{Error, RString, Ruby, TryConvert, Value};
use rustix::io::{Errno, fcntl_dupfd_cloexec};

use crate::interpreter::{borrow, error};
use crate::lanes::inline_body::InlineBody;
use crate::lanes::lane::Lane;
use crate::lanes::response_head::{self, Shape, Start};
use crate::lanes::slot::Slot;
use crate::processes::close_forgotten_files;

type Body = OutgoingBody<InlineBody>;

/// A part of an open file, as `respond_file` gets it: an Array of the number of its descriptor, the offset and the length
/// in bytes, and whether the client may ask for ranges.
#[derive(Clone, Copy)]
pub(crate) struct FilePart {
    /// The descriptor, which the caller still owns.
    file: RawFd,
    offset: u64,
    length: u64,
    allows_ranges: bool,
}

impl TryConvert for FilePart {
    fn try_convert(value: Value) -> Result<FilePart, Error> {
        let (file, offset, length, allows_ranges) = TryConvert::try_convert(value)?;
        Ok(FilePart {
            file,
            offset,
            length,
            allows_ranges,
        })
    }
}

impl Slot {
    /// Responds with an Array of Strings. Returns false, and does nothing, when Ruby has to convert something first.
    pub(crate) fn respond_inline(
        ruby: &Ruby,
        slot: &Slot,
        status: Value,
        headers: Value,
        body: Value,
    ) -> Result<bool, Error> {
        if response_head::switches(status) {
            // After a change of protocol, what follows is no body.
            return Ok(false);
        }
        match InlineBody::of(ruby, body) {
            Some(pieces) => slot.respond(ruby, status, headers, Body::Inline(pieces)),
            None => Ok(false),
        }
    }

    /// Responds without a body. Returns false under the same condition as `respond_inline`.
    pub(crate) fn respond_empty(
        ruby: &Ruby,
        slot: &Slot,
        status: Value,
        headers: Value,
    ) -> Result<bool, Error> {
        slot.respond(ruby, status, headers, Body::Empty)
    }

    /// Responds with part of an open file. Returns false under the same condition as `respond_inline`. Raises
    /// `Errno::EMFILE`.
    pub(crate) fn respond_file(
        ruby: &Ruby,
        slot: &Slot,
        status: Value,
        headers: Value,
        part: FilePart,
    ) -> Result<bool, Error> {
        // SAFETY: the caller holds the file open during this call.
        let file = unsafe { BorrowedFd::borrow_raw(part.file) };
        let body = Body::File {
            file: duplicate(ruby, file)?,
            offset: part.offset,
            length: part.length,
            allows_ranges: part.allows_ranges,
        };
        slot.respond(ruby, status, headers, body)
    }

    /// Lets the edge respond, because the application failed: `report`, an Array of Strings, is the text that the
    /// client may read.
    pub(crate) fn fail(ruby: &Ruby, slot: &Slot, report: Value) -> Result<(), Error> {
        let lane = slot.lane(ruby);
        borrow(ruby, &lane.head)?.start_failure();
        let body = InlineBody::of(ruby, report).map_or(Body::Empty, Body::Inline);
        slot.send_response(ruby, &lane, body)
    }

    /// Sends early hints for the request with this id, unless it has its response. Returns false under the same
    /// condition as `respond_inline`.
    pub(crate) fn hint(ruby: &Ruby, slot: &Slot, id: u32, headers: Value) -> Result<bool, Error> {
        if slot.current.get().is_none_or(|current| current.id != id) {
            return Ok(true);
        }
        let lane = slot.lane(ruby);
        let mut head = borrow(ruby, &lane.head)?;
        if response_head::read_hints(&mut head, headers)? == Shape::Other {
            return Ok(false);
        }
        borrow(ruby, &lane.session)?.hint(id, &head);
        drop(head);
        Lane::flush(ruby, &lane)?;
        Ok(true)
    }

    /// Begins a response whose body follows by `write`. Returns false under the same condition as `respond_inline`.
    pub(crate) fn open_stream(
        ruby: &Ruby,
        slot: &Slot,
        status: Value,
        headers: Value,
    ) -> Result<bool, Error> {
        slot.respond(ruby, status, headers, Body::Stream)
    }

    /// Responds with headers after which the application takes over the connection: `socket` is the descriptor of the
    /// far end of the application's socket, and stays the caller's. Returns false under the same condition as
    /// `respond_inline`. Raises `Errno::EMFILE`.
    pub(crate) fn respond_tunnel(
        ruby: &Ruby,
        slot: &Slot,
        status: Value,
        headers: Value,
        socket: RawFd,
    ) -> Result<bool, Error> {
        // SAFETY: the caller holds the socket open during this call.
        let socket = unsafe { BorrowedFd::borrow_raw(socket) };
        let socket = duplicate(ruby, socket)?;
        slot.respond(ruby, status, headers, Body::Tunnel { socket })
    }

    /// Takes over the connection of the request with this id before there is a response; the descriptor is as in
    /// `respond_tunnel`. Returns false, and does nothing, when that request has a response, or is over.
    pub(crate) fn hijack(ruby: &Ruby, slot: &Slot, id: u32, socket: RawFd) -> Result<bool, Error> {
        // SAFETY: the caller holds the socket open during this call.
        let socket = unsafe { BorrowedFd::borrow_raw(socket) };
        let socket = duplicate(ruby, socket)?;
        let Some(request) = slot.current.get().filter(|current| current.id == id) else {
            return Ok(false);
        };
        let lane = slot.lane(ruby);
        borrow(ruby, &lane.session)?.hijack(request, socket, Instant::now());
        slot.current.set(None);
        slot.streaming.set(Some(id));
        Lane::flush(ruby, &lane)?;
        Ok(true)
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
        // Code of the application still runs: it closes the body.
        lane.linger(&mut session);
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
        if self.streaming.get().is_some() {
            // The application has taken over the connection, and responds itself.
            return Ok(false);
        }
        let lane = self.lane(ruby);
        let mut head = borrow(ruby, &lane.head)?;
        let start: Start = match body {
            Body::Tunnel { .. } => HeadEncoder::start_tunnel,
            _ => HeadEncoder::start,
        };
        if response_head::read(ruby, &mut head, start, status, headers)? == Shape::Other {
            return Ok(false);
        }
        drop(head);
        self.send_response(ruby, &lane, body)?;
        Ok(true)
    }

    /// Responds with the status and the headers that the lane has read.
    fn send_response(&self, ruby: &Ruby, lane: &Lane, body: Body) -> Result<(), Error> {
        let socket = lane.io.socket(ruby)?;
        let mut head = borrow(ruby, &lane.head)?;
        let mut session = borrow(ruby, &lane.session)?;
        let Some(request) = self.current.take() else {
            return Err(error::link(ruby, "no request waits for a response"));
        };
        if let Some(waited) = self.marks.get().waited(request.id) {
            session.report_collection(waited);
        }
        let is_streamed =
            LaneSession::respond(&mut session, request, &mut head, body, Instant::now());
        self.streaming.set(is_streamed.then_some(request.id));
        if session.is_full() {
            lane.linger(&mut session);
        }
        let relieved = session.relieve(socket);
        drop((session, head));
        relieved.map_err(|failure| error::link(ruby, failure))?;
        lane.end_if_drained(ruby)
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
