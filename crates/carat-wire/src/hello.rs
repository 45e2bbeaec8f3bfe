use crate::Malformed;
use crate::cursor::Cursor;
use crate::frame::{self, Kind};

/// The version of this protocol; both sides of a socket must speak the same.
pub const VERSION: u16 = 1;

/// Who opens a socket to the edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Peer {
    /// A mold's control socket.
    Mold = 1,
    /// A worker's control socket.
    Worker = 2,
    /// A lane.
    Lane = 3,
}

/// The first frame on every socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    /// The sender's protocol version.
    pub version: u16,
    /// The sender's process.
    pub pid: u32,
    /// What the socket is for.
    pub peer: Peer,
    /// How many requests a lane takes at once, 1 at least; 0 where it is none.
    pub capacity: u16,
}

impl Hello {
    /// A greeting in this version of the protocol.
    #[must_use]
    pub fn new(peer: Peer, pid: u32, capacity: u16) -> Hello {
        Hello {
            version: VERSION,
            pid,
            peer,
            capacity,
        }
    }

    /// Appends the frame to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        frame::push(out, Kind::Hello, |out| {
            out.extend_from_slice(&self.version.to_le_bytes());
            out.extend_from_slice(&self.pid.to_le_bytes());
            out.push(self.peer as u8);
            out.extend_from_slice(&self.capacity.to_le_bytes());
        });
    }

    /// Reads the payload. The version comes first in every version, so that it can be compared.
    pub fn decode(payload: &[u8]) -> Result<Hello, Malformed> {
        let mut cursor = Cursor::new(payload);
        let version = cursor.u16()?;
        let pid = cursor.u32()?;
        let peer = match cursor.u8()? {
            1 => Peer::Mold,
            2 => Peer::Worker,
            3 => Peer::Lane,
            _ => return Err(Malformed::BadValue("peer")),
        };
        let capacity = cursor.u16()?;
        cursor.end()?;
        if (peer == Peer::Lane) == (capacity == 0) {
            return Err(Malformed::BadValue("capacity"));
        }
        Ok(Hello {
            version,
            pid,
            peer,
            capacity,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Frame;

    fn decoded(hello: Hello) -> Result<Hello, Malformed> {
        let mut bytes = Vec::new();
        hello.encode(&mut bytes);
        let frame = Frame::first(&bytes)
            .expect("well formed")
            .expect("complete");
        Hello::decode(frame.payload)
    }

    #[test]
    fn a_greeting_survives_the_wire() {
        for (peer, capacity) in [(Peer::Mold, 0), (Peer::Worker, 0), (Peer::Lane, 256)] {
            let hello = Hello::new(peer, 4242, capacity);
            assert_eq!(decoded(hello), Ok(hello));
        }
    }

    #[test]
    fn lanes_and_nobody_else_take_requests() {
        for (peer, capacity) in [(Peer::Mold, 1), (Peer::Worker, 1), (Peer::Lane, 0)] {
            let refused = decoded(Hello::new(peer, 4242, capacity));
            assert_eq!(refused, Err(Malformed::BadValue("capacity")));
        }
    }
}
