//! A response on its way to the edge.

use std::os::fd::OwnedFd;
use std::time::Instant;

use carat_wire::response::{self, ResponseHead, body};
use carat_wire::stream::{encode_abort, encode_end};
use carat_wire::{Hijack, hints};

use crate::head_encoder::HeadEncoder;
use crate::lane::LaneSession;

/// A request that the application works on.
#[derive(Debug, Clone, Copy)]
pub struct CurrentRequest {
    /// Names the request on its lane.
    pub id: u32,
    /// Whether the request is a HEAD, whose response has no body.
    pub is_head: bool,
    /// When the request was taken.
    pub started: Instant,
}

/// The pieces of a body that fits into the frame of its response.
pub trait BodyPieces {
    /// Bytes of all pieces together.
    fn bytes(&self) -> u32;

    /// The pieces in order.
    fn pieces(&self) -> impl Iterator<Item = &[u8]>;
}

/// The body of a response, in the form in which it is sent.
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
        /// Whether the client may ask for ranges of the file.
        allows_ranges: bool,
    },
    /// The body follows in pieces.
    Stream,
    /// The application takes over the connection after the headers.
    Tunnel {
        /// The far end of the application's socket, which travels beside the frame.
        socket: OwnedFd,
    },
}

/// How a streamed body ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum StreamEnd {
    /// The body is complete.
    Complete,
    /// The client sees that the body is incomplete.
    Aborted,
}

impl LaneSession {
    /// Appends a response to the outbox. `now` is the time of the response. Returns whether the request continues: its
    /// body follows in pieces, or the application has taken over the connection.
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
        // For a file, the edge sends the headers that a GET would get, and no bytes.
        let is_described = !request.is_head || matches!(body, OutgoingBody::File { .. });
        let allows_body = is_described && !head.is_bodiless();
        let body = if allows_body {
            body
        } else {
            OutgoingBody::Empty
        };
        let is_streamed = matches!(body, OutgoingBody::Stream | OutgoingBody::Tunnel { .. });
        if is_streamed {
            self.in_flight.open_stream(request.id);
        } else {
            self.in_flight.end(request.id);
        }
        let response = ResponseHead {
            id: request.id,
            status: head.status(),
            app_micros: self.note_response(request, now),
        };
        self.push_response(response, head, body);
        is_streamed
    }

    /// Appends that the application takes over the connection of a request before it responds. `socket` is the far end
    /// of the application's socket. The request continues until [`end_stream`](LaneSession::end_stream).
    pub fn hijack(&mut self, request: CurrentRequest, socket: OwnedFd, now: Instant) {
        let hijack = Hijack {
            id: request.id,
            app_micros: self.note_response(request, now),
        };
        self.outbox.attach(socket);
        hijack.encode(self.outbox.buffer());
    }

    /// Notes that the application responds at the time `now`. Returns how long the response took, in microseconds.
    fn note_response(&mut self, request: CurrentRequest, now: Instant) -> u32 {
        let spent = now.saturating_duration_since(request.started);
        self.flush_policy.responded(now, spent);
        u32::try_from(spent.as_micros()).unwrap_or(u32::MAX)
    }

    /// Appends early hints for request `id`.
    pub fn hint(&mut self, id: u32, head: &HeadEncoder) {
        hints::encode(self.outbox.buffer(), id, head.headers());
    }

    /// Ends the streamed body of the response to request `id`.
    pub fn end_stream(&mut self, id: u32, end: StreamEnd) {
        self.in_flight.end(id);
        let out = self.outbox.buffer();
        match end {
            StreamEnd::Complete => encode_end(out, id),
            StreamEnd::Aborted => encode_abort(out, id),
        }
        self.flush_policy.flush_soon();
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
            OutgoingBody::Tunnel { socket } => {
                self.outbox.attach(socket);
                self.push_frame(response, head, body::tunnel);
            }
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
