use crate::Malformed;
use crate::codec::Cursor;
use crate::frame::{self, Kind};

/// The version of this protocol, which must be the same on both sides of a socket.
pub const VERSION: u16 = 13;

/// The purpose of a socket to the edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum SocketKind {
    /// A mold's control socket.
    Mold = 1,
    /// A worker's control socket.
    Worker = 2,
    /// A lane.
    Lane = 3,
    /// The control socket of a further process of the application.
    Process = 4,
}

/// The first frame on every socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    /// The sender's protocol version.
    pub version: u16,
    /// The sender's process.
    pub pid: u32,
    /// The purpose of the socket.
    pub socket: SocketKind,
    /// How many requests a lane serves concurrently, at least 1; 0 for a control socket.
    pub capacity: u16,
}

impl Hello {
    /// A hello in this version of the protocol.
    pub fn new(socket: SocketKind, pid: u32, capacity: u16) -> Hello {
        Hello {
            version: VERSION,
            pid,
            socket,
            capacity,
        }
    }

    /// Appends the frame to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        frame::push(out, Kind::Hello, |out| {
            out.extend_from_slice(&self.version.to_le_bytes());
            out.extend_from_slice(&self.pid.to_le_bytes());
            out.push(self.socket as u8);
            out.extend_from_slice(&self.capacity.to_le_bytes());
        });
    }

    /// Reads the payload. It begins with the version in every version of the protocol, so that versions can be
    /// compared.
    pub fn decode(payload: &[u8]) -> Result<Hello, Malformed> {
        let mut cursor = Cursor::new(payload);
        let version = cursor.u16()?;
        let pid = cursor.u32()?;
        let socket = match cursor.u8()? {
            1 => SocketKind::Mold,
            2 => SocketKind::Worker,
            3 => SocketKind::Lane,
            4 => SocketKind::Process,
            _ => return Err(Malformed::BadValue("socket")),
        };
        let capacity = cursor.u16()?;
        cursor.end()?;
        if (socket == SocketKind::Lane) == (capacity == 0) {
            return Err(Malformed::BadValue("capacity"));
        }
        Ok(Hello {
            version,
            pid,
            socket,
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
    fn lanes_and_nobody_else_take_requests() {
        for (socket, capacity) in [
            (SocketKind::Mold, 1),
            (SocketKind::Worker, 1),
            (SocketKind::Lane, 0),
        ] {
            let refused = decoded(Hello::new(socket, 4242, capacity));
            assert_eq!(refused, Err(Malformed::BadValue("capacity")));
        }
    }
}
