use crate::Malformed;
use crate::codec::Cursor;
use crate::frame::{self, Kind};

/// The application takes over the connection of a request before it responds. The socket whose descriptor travels with
/// this frame is the other end for the client's bytes; [`Kind::End`] says that the request is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hijack {
    /// The id of the request.
    pub id: u32,
    /// How long the application took, in microseconds.
    pub app_micros: u32,
}

impl Hijack {
    /// Appends the frame to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        frame::push(out, Kind::Tunnel, |out| {
            out.extend_from_slice(&self.id.to_le_bytes());
            out.extend_from_slice(&self.app_micros.to_le_bytes());
        });
    }

    /// Reads the payload.
    pub fn decode(payload: &[u8]) -> Result<Hijack, Malformed> {
        let mut cursor = Cursor::new(payload);
        let hijack = Hijack {
            id: cursor.u32()?,
            app_micros: cursor.u32()?,
        };
        cursor.end()?;
        Ok(hijack)
    }
}
