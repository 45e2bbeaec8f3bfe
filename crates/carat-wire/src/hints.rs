//! Early hints: header fields that a client gets before the response (RFC 8297).

use crate::Malformed;
use crate::codec::{Cursor, EncodedHeaders, Headers};
use crate::frame::{self, Kind};

/// Decoded early hints.
#[derive(Clone, Copy)]
pub struct Hints<'a> {
    /// The id of the request.
    pub id: u32,
    /// The fields, in order, repeated names as they are.
    pub headers: Headers<'a>,
}

/// Appends early hints for request `id`.
pub fn encode(out: &mut Vec<u8>, id: u32, headers: EncodedHeaders<'_>) {
    frame::push(out, Kind::Hints, |out| {
        out.extend_from_slice(&id.to_le_bytes());
        out.extend_from_slice(&headers.count.to_le_bytes());
        out.extend_from_slice(headers.fields);
    });
}

impl<'a> Hints<'a> {
    /// Reads the payload.
    pub fn decode(payload: &'a [u8]) -> Result<Hints<'a>, Malformed> {
        let mut cursor = Cursor::new(payload);
        let id = cursor.u32()?;
        let count = cursor.u16()?;
        let headers = Headers::checked(count, &mut cursor)?;
        cursor.end()?;
        Ok(Hints { id, headers })
    }
}
