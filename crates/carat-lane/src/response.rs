//! A response on its way to the edge.

use std::os::fd::OwnedFd;
use std::time::Instant;

use carat_wire::response::{self, ResponseHead, body};
use carat_wire::stream::{encode_abort, encode_end};

use crate::head_encoder::HeadEncoder;
use crate::session::LaneSession;

/// A request that the application works on.
#[derive(Debug, Clone, Copy)]
pub struct CurrentRequest {
    /// Names the request on its lane.
    pub id: u32,
    /// Whether it is a HEAD, whose response has no body.
    pub is_head: bool,
    /// When it was taken.
    pub started: Instant,
}

/// The pieces of a body that fits into the frame of its response.
pub trait BodyPieces {
    /// Bytes of all pieces together.
    fn bytes(&self) -> u32;

    /// The pieces in order.
    fn pieces(&self) -> impl Iterator<Item = &[u8]>;
}

/// The body of a response, in the form in which it travels.
#[derive(Debug)]
pub enum OutgoingBody<P> {
    /// No body.
    Empty,
    /// The whole body, within the frame.
    Inline(P),
    /// A part of an open file.
    File {
        /// The file, which travels beside the frame.
        file: OwnedFd,
        /// Where the body begins, in bytes.
        offset: u64,
        /// Bytes of the body.
        length: u64,
        /// Whether the client may ask for ranges of it.
        allows_ranges: bool,
    },
    /// The body follows in pieces.
    Stream,
}

/// How a streamed body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEnd {
    /// The body is complete.
    Complete,
    /// The client sees that the body is incomplete.
    Aborted,
}

impl LaneSession {
    /// Appends a response to the outbox at this time. Returns whether its body follows in pieces.
    pub fn respond<P: BodyPieces>(
        &mut self,
        request: CurrentRequest,
        head: &mut HeadEncoder,
        body: OutgoingBody<P>,
        now: Instant,
    ) -> bool {
        if let (true, OutgoingBody::Inline(inline)) = (request.is_head, &body) {
            head.add_length(inline.bytes());
        }
        let allows_body = !request.is_head && !head.is_bodiless();
        let body = if allows_body {
            body
        } else {
            OutgoingBody::Empty
        };
        let is_streamed = matches!(body, OutgoingBody::Stream);
        if is_streamed {
            self.in_flight.open_stream(request.id);
        } else {
            self.in_flight.end(request.id);
        }
        let spent = now.saturating_duration_since(request.started);
        self.flush_policy.responded(now, spent);
        let response = ResponseHead {
            id: request.id,
            status: head.status(),
            app_micros: u32::try_from(spent.as_micros()).unwrap_or(u32::MAX),
        };
        self.push_response(response, head, body);
        is_streamed
    }

    /// Ends the streamed body of the response to request `id`.
    pub fn end_stream(&mut self, id: u32, end: StreamEnd) {
        self.in_flight.end(id);
        let out = self.outbox.buffer();
        match end {
            StreamEnd::Complete => encode_end(out, id),
            StreamEnd::Aborted => encode_abort(out, id),
        }
        self.flush_policy.hurry();
    }

    fn push_response<P: BodyPieces>(
        &mut self,
        response: ResponseHead,
        head: &HeadEncoder,
        outgoing: OutgoingBody<P>,
    ) {
        match outgoing {
            OutgoingBody::Empty => self.push_frame(response, head, body::none),
            OutgoingBody::Inline(inline) => self.push_frame(response, head, |out| {
                body::inline(out, inline.bytes(), inline.pieces());
            }),
            OutgoingBody::File {
                file,
                offset,
                length,
                allows_ranges,
            } => {
                self.outbox.attach(file);
                self.push_frame(response, head, |out| {
                    body::file(out, offset, length, allows_ranges);
                });
            }
            OutgoingBody::Stream => self.push_frame(response, head, body::stream),
        }
    }

    fn push_frame(
        &mut self,
        response: ResponseHead,
        head: &HeadEncoder,
        body: impl FnOnce(&mut Vec<u8>),
    ) {
        response::encode(self.outbox.buffer(), response, head.headers(), body);
    }
}
