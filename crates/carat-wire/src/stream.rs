//! Streamed bodies: pieces, their end, and flow control.

use crate::Malformed;
use crate::codec::Cursor;
use crate::frame::{self, Kind, message};

/// The most bytes of a stream in flight. The worker may send this many bytes of a response before the first [`Window`].
/// The edge may send no byte of a request body before it.
pub const STREAM_WINDOW: u32 = 256 * 1024;

/// The window of a response whose request says that the edge is short of memory.
pub const SHORT_STREAM_WINDOW: u32 = 16 * 1024;

/// The most bytes of one piece; a sender splits larger pieces.
pub const PIECE_LIMIT: usize = 64 * 1024;

/// A piece of a streamed body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// The request that the stream belongs to.
    pub id: u32,
    /// The bytes, never empty.
    pub data: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// Reads the payload.
    pub fn decode(payload: &'a [u8]) -> Result<Chunk<'a>, Malformed> {
        let mut cursor = Cursor::new(payload);
        Ok(Chunk {
            id: cursor.u32()?,
            data: cursor.rest(),
        })
    }
}

message! {
    /// Grants the receiver of this frame more bytes of a stream.
    Window {
        /// The request that the stream belongs to.
        id: u32,
        /// Bytes in addition to those granted before.
        bytes: u32,
    }
}

/// Appends a piece of the stream of request `id`.
pub fn encode_chunk(out: &mut Vec<u8>, id: u32, data: &[u8]) {
    frame::push(out, Kind::Chunk, |out| {
        out.extend_from_slice(&id.to_le_bytes());
        out.extend_from_slice(data);
    });
}

/// Appends the end of the stream of request `id`.
pub fn encode_end(out: &mut Vec<u8>, id: u32) {
    frame::push_number(out, Kind::End, id);
}

/// Appends that the stream of request `id` was aborted.
pub fn encode_abort(out: &mut Vec<u8>, id: u32) {
    frame::push_number(out, Kind::Abort, id);
}

/// Reads the payload of an end or an abort: the id of the request.
pub fn decode_id(payload: &[u8]) -> Result<u32, Malformed> {
    let mut cursor = Cursor::new(payload);
    let id = cursor.u32()?;
    cursor.end()?;
    Ok(id)
}
