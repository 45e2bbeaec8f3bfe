//! Early hints: header fields that a client gets before the response (RFC 8297).

use crate::Malformed;
use crate::codec::{Cursor, Headers};
use crate::frame::{self, Kind};

/// Decoded early hints.
#[derive(Debug, Clone, Copy)]
pub struct Hints<'a> {
    /// The id of the request.
    pub id: u32,
    /// The fields, in order, repeated names as they are.
    pub headers: Headers<'a>,
}

/// Appends early hints for request `id`. `headers` contains `count` fields, encoded with
/// [`push_header`](crate::push_header).
pub fn encode(out: &mut Vec<u8>, id: u32, (count, headers): (u16, &[u8])) {
    frame::push(out, Kind::Hints, |out| {
        out.extend_from_slice(&id.to_le_bytes());
        out.extend_from_slice(&count.to_le_bytes());
        out.extend_from_slice(headers);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Frame, push_header};

    #[test]
    fn hints_survive_the_wire() {
        let (mut bytes, mut headers) = (Vec::new(), Vec::new());
        push_header(&mut headers, "link", b"</a.css>; rel=preload");
        encode(&mut bytes, 9, (1, &headers));
        let frame = Frame::first(&bytes)
            .expect("well formed")
            .expect("complete");
        let hints = Hints::decode(frame.payload).expect("well formed");
        assert_eq!((frame.kind, hints.id), (Kind::Hints, 9));
        let values: Vec<_> = hints.headers.map(|(_, value)| value).collect();
        assert_eq!(values, [b"</a.css>; rel=preload"]);
        assert!(Hints::decode(&frame.payload[..frame.payload.len() - 1]).is_err());
    }
}
