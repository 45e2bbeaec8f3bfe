//! A response of the application.

use crate::Malformed;
use crate::codec::{Cursor, EncodedHeaders, Headers, push_long};
use crate::frame::{self, Kind, message};

/// How the body of a response is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseBody<'a> {
    /// No body.
    None,
    /// The complete body.
    Inline(&'a [u8]),
    /// The body is `length` bytes from `offset` of the file whose descriptor travels with this frame.
    File {
        /// Where the body begins, in bytes.
        offset: u64,
        /// Bytes of the body.
        length: u64,
        /// Whether a client may request ranges of the file, because the application named this file.
        allows_ranges: bool,
    },
    /// The body follows in chunks.
    Stream,
    /// The application takes over the connection after these headers. The socket whose descriptor travels with this
    /// frame is the other end for the client's bytes; [`Kind::End`] says that the request is over.
    Tunnel,
}

impl ResponseBody<'_> {
    /// Whether a descriptor travels with the frame.
    pub fn has_descriptor(&self) -> bool {
        matches!(self, ResponseBody::File { .. } | ResponseBody::Tunnel)
    }
}

/// A decoded response.
#[derive(Clone, Copy)]
pub struct Response<'a> {
    /// The id of the request.
    pub id: u32,
    /// The HTTP status, or [`FAILED`].
    pub status: u16,
    /// How long the application took, in microseconds.
    pub app_micros: u32,
    /// The headers, in order, repeated names as they are.
    pub headers: Headers<'a>,
    /// The body.
    pub body: ResponseBody<'a>,
}

/// A response without its headers and its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseHead {
    /// The id of the request.
    pub id: u32,
    /// The HTTP status.
    pub status: u16,
    /// How long the application took, in microseconds.
    pub app_micros: u32,
}

/// The status of a response that the application failed to make. The edge responds with 500.
pub const FAILED: u16 = 0;

const BODY_NONE: u8 = 0;
const BODY_INLINE: u8 = 1;
const BODY_FILE: u8 = 2;
const BODY_STREAM: u8 = 3;
const BODY_TUNNEL: u8 = 4;

/// Appends a response. `body` appends the body with a function of [`body`].
pub fn encode(
    out: &mut Vec<u8>,
    head: ResponseHead,
    headers: EncodedHeaders<'_>,
    body: impl FnOnce(&mut Vec<u8>),
) {
    frame::push(out, Kind::Response, |out| {
        out.extend_from_slice(&head.id.to_le_bytes());
        out.extend_from_slice(&head.status.to_le_bytes());
        out.extend_from_slice(&head.app_micros.to_le_bytes());
        out.extend_from_slice(&headers.count.to_le_bytes());
        out.extend_from_slice(headers.fields);
        body(out);
    });
}

/// Appends the body of a response.
pub mod body {
    use super::{BODY_FILE, BODY_INLINE, BODY_NONE, BODY_STREAM, BODY_TUNNEL, push_long};

    /// No body.
    pub fn none(out: &mut Vec<u8>) {
        out.push(BODY_NONE);
    }

    /// The complete body in `pieces`, which have `length` bytes in total.
    pub fn inline<'a>(out: &mut Vec<u8>, length: u32, pieces: impl Iterator<Item = &'a [u8]>) {
        out.push(BODY_INLINE);
        out.extend_from_slice(&length.to_le_bytes());
        pieces.for_each(|piece| out.extend_from_slice(piece));
    }

    /// The complete body in one piece.
    pub fn whole(out: &mut Vec<u8>, bytes: &[u8]) {
        out.push(BODY_INLINE);
        push_long(out, bytes);
    }

    /// `length` bytes from `offset` of the file whose descriptor is attached to this frame.
    pub fn file(out: &mut Vec<u8>, offset: u64, length: u64, allows_ranges: bool) {
        out.push(BODY_FILE);
        out.extend_from_slice(&offset.to_le_bytes());
        out.extend_from_slice(&length.to_le_bytes());
        out.push(u8::from(allows_ranges));
    }

    /// Chunks follow.
    pub fn stream(out: &mut Vec<u8>) {
        out.push(BODY_STREAM);
    }

    /// The application takes over the connection; the descriptor of a socket is attached to this frame.
    pub fn tunnel(out: &mut Vec<u8>) {
        out.push(BODY_TUNNEL);
    }
}

impl<'a> Response<'a> {
    /// Reads the payload.
    pub fn decode(payload: &'a [u8]) -> Result<Response<'a>, Malformed> {
        let mut cursor = Cursor::new(payload);
        let id = cursor.u32()?;
        let status = cursor.u16()?;
        let app_micros = cursor.u32()?;
        let count = cursor.u16()?;
        let headers = Headers::checked(count, &mut cursor)?;
        let body = match cursor.u8()? {
            BODY_NONE => ResponseBody::None,
            BODY_INLINE => ResponseBody::Inline(cursor.long()?),
            BODY_FILE => ResponseBody::File {
                offset: cursor.u64()?,
                length: cursor.u64()?,
                allows_ranges: cursor.flag("ranges")?,
            },
            BODY_STREAM => ResponseBody::Stream,
            BODY_TUNNEL => ResponseBody::Tunnel,
            _ => return Err(Malformed::BadValue("response body")),
        };
        cursor.end()?;
        Ok(Response {
            id,
            status,
            app_micros,
            headers,
            body,
        })
    }
}

message! {
    /// A full garbage collection is due in the process of a worker.
    CollectionDue {
        /// The byte of the [`FullReason`](crate::FullReason).
        reason: u8,
        /// The share of one processor that the worker has used lately, in percent.
        load: u8,
    }
}

message! {
    /// The full garbage collections for which a request waited. This frame comes before the response.
    Collection {
        /// The id of the request.
        request: u32,
        /// How long the collections took together, in microseconds.
        micros: u32,
        /// How many of the collections no other lane of the worker has reported.
        full: u16,
        /// The byte of the [`FullReason`](crate::FullReason) of the last of these.
        reason: u8,
        /// The byte of its [`HasteReason`](crate::HasteReason).
        haste: u8,
    }
}

message! {
    /// The application takes over the connection of a request before it responds. The socket whose descriptor travels with
    /// this frame is the other end for the client's bytes; [`Kind::End`] says that the request is over.
    Hijack {
        /// The id of the request.
        id: u32,
        /// How long the application took, in microseconds.
        app_micros: u32,
    }
}
