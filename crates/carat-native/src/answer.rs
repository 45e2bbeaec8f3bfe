//! How a request is answered: the methods of `Carat::Native::Place` between two requests.

use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::time::Instant;

use carat_wire::response::{self, ResponseHead, body};
use carat_wire::stream::{encode_abort, encode_end};
use magnus::{Error, RString, Ruby, Value};

use crate::body::Pieces;
use crate::error;
use crate::head::Shape;
use crate::io::{Step, borrow};
use crate::lane::State;
use crate::place::{Current, Place};
use crate::session::{Progress, Session};
use crate::turns::Want;

/// The body of an answer, as it travels.
enum Payload {
    Empty,
    Pieces(Pieces),
    File {
        /// Taken when it is attached to the frame.
        descriptor: Option<OwnedFd>,
        offset: u64,
        length: u64,
        allows_ranges: bool,
    },
    Stream,
}

impl Place {
    /// Answers with an Array of Strings; false, and nothing done, when Ruby has to convert something first.
    pub(crate) fn answer(
        ruby: &Ruby,
        place: &Place,
        status: Value,
        headers: Value,
        body: Value,
    ) -> Result<bool, Error> {
        match Pieces::of(ruby, body) {
            Some(pieces) => place.respond(ruby, status, headers, Payload::Pieces(pieces)),
            None => Ok(false),
        }
    }

    /// Answers without a body; false as `answer`.
    pub(crate) fn answer_empty(
        ruby: &Ruby,
        place: &Place,
        status: Value,
        headers: Value,
    ) -> Result<bool, Error> {
        place.respond(ruby, status, headers, Payload::Empty)
    }

    /// Answers with part of an open file: its descriptor, which stays the caller's, an offset and a length in
    /// bytes, and whether the client may ask for ranges of it; false as `answer`.
    pub(crate) fn answer_file(
        ruby: &Ruby,
        place: &Place,
        status: Value,
        headers: Value,
        (file, offset, length, allows_ranges): (RawFd, u64, u64, bool),
    ) -> Result<bool, Error> {
        // SAFETY: the caller holds the file open during this call.
        let file = unsafe { BorrowedFd::borrow_raw(file) };
        let descriptor = file
            .try_clone_to_owned()
            .map_err(|failure| error::link(ruby, failure))?;
        let payload = Payload::File {
            descriptor: Some(descriptor),
            offset,
            length,
            allows_ranges,
        };
        place.respond(ruby, status, headers, payload)
    }

    /// Begins an answer whose body follows by `write`; false as `answer`.
    pub(crate) fn open_stream(
        ruby: &Ruby,
        place: &Place,
        status: Value,
        headers: Value,
    ) -> Result<bool, Error> {
        place.respond(ruby, status, headers, Payload::Stream)
    }

    /// Sends a part of the body, as fast as the client takes it; raises `ClientGone`.
    pub(crate) fn write(ruby: &Ruby, place: &Place, data: RString) -> Result<(), Error> {
        let Some(id) = place.streaming.get() else {
            return Err(error::client_gone(ruby));
        };
        let lane = place.lane(ruby);
        let mut sent = 0;
        while sent < data.len() {
            let progress = lane.drive(ruby, Want::News(id), |state, socket| {
                // SAFETY: no Ruby code runs while the slice is used.
                let bytes = unsafe { data.as_slice() };
                match bytes.get(sent..) {
                    None | Some([]) => Ok(Step::Done(Progress::Sent(0))),
                    Some(rest) => state.session.send_piece(socket, id, rest),
                }
            })?;
            match progress {
                Progress::Sent(count) => sent += count,
                Progress::Gone => return Err(error::client_gone(ruby)),
            }
        }
        Ok(())
    }

    /// Ends the streamed body.
    pub(crate) fn close_stream(ruby: &Ruby, place: &Place) -> Result<(), Error> {
        place.end(ruby, encode_end)
    }

    /// Breaks the streamed body off: the client sees that it is incomplete.
    pub(crate) fn abort_stream(ruby: &Ruby, place: &Place) -> Result<(), Error> {
        place.end(ruby, encode_abort)
    }

    fn end(&self, ruby: &Ruby, encode: fn(&mut Vec<u8>, u32)) -> Result<(), Error> {
        let Some(id) = self.streaming.take() else {
            return Ok(());
        };
        let lane = self.lane(ruby);
        let socket = lane.io.socket(ruby)?;
        let mut state = borrow(ruby, &lane.state)?;
        let session = &mut state.session;
        session.talks.end(id);
        encode(session.outbox.buffer(), id);
        session.patience.hurry();
        let flushed = session.flush(socket);
        drop(state);
        flushed.map_err(|failure| error::link(ruby, failure))?;
        lane.end_if_idle(ruby)
    }

    fn respond(
        &self,
        ruby: &Ruby,
        status: Value,
        headers: Value,
        payload: Payload,
    ) -> Result<bool, Error> {
        let lane = self.lane(ruby);
        let socket = lane.io.socket(ruby)?;
        let mut state = borrow(ruby, &lane.state)?;
        if state.head.gather(ruby, status, headers)? == Shape::Other {
            return Ok(false);
        }
        let Some(current) = self.current.take() else {
            return Err(error::link(ruby, "no request waits for an answer"));
        };
        let is_streamed = state.push(current, payload);
        self.streaming.set(is_streamed.then_some(current.id));
        let relieved = state.session.relieve(socket);
        drop(state);
        relieved.map_err(|failure| error::link(ruby, failure))?;
        lane.end_if_idle(ruby)?;
        Ok(true)
    }
}

impl Payload {
    /// Prepares what goes beside the frame of request `id`.
    fn attach(&mut self, session: &mut Session, id: u32) {
        match self {
            Payload::Empty | Payload::Pieces(_) => {}
            Payload::File { descriptor, .. } => {
                if let Some(file) = descriptor.take() {
                    session.outbox.attach(file);
                }
            }
            Payload::Stream => session.talks.open_stream(id),
        }
    }

    fn push(&self, out: &mut Vec<u8>) {
        match self {
            Payload::Empty => body::none(out),
            Payload::Pieces(pieces) => body::inline(out, pieces.bytes, pieces.iter()),
            Payload::File {
                offset,
                length,
                allows_ranges,
                ..
            } => body::file(out, *offset, *length, *allows_ranges),
            Payload::Stream => body::stream(out),
        }
    }
}

impl State {
    /// Appends the answer; whether its body follows.
    fn push(&mut self, current: Current, mut payload: Payload) -> bool {
        let State { session, head, .. } = self;
        if current.is_head || head.is_bodiless() {
            payload = Payload::Empty;
        }
        let is_streamed = matches!(payload, Payload::Stream);
        payload.attach(session, current.id);
        if !is_streamed {
            session.talks.end(current.id);
        }
        let now = Instant::now();
        let spent = now.duration_since(current.started);
        let response = ResponseHead {
            id: current.id,
            status: head.status,
            app_micros: u32::try_from(spent.as_micros()).unwrap_or(u32::MAX),
        };
        let headers = (head.count, &head.bytes[..]);
        let out = session.outbox.buffer();
        response::encode(out, response, headers, |out| payload.push(out));
        session.patience.answered(now, spent);
        is_streamed
    }
}
