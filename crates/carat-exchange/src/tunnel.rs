use std::fmt::Debug;
use std::os::unix::net::UnixStream;

use http::StatusCode;
use http::response::Parts;
use tokio::io::{AsyncRead, AsyncWrite};

use super::worker_tunnels::TunnelPlace;

/// The tunnel that the application gets in place of its client's connection.
#[derive(Debug)]
pub struct Tunnel {
    /// The application at the other end.
    pub application: TunnelApplication,
    /// Whether the application sends the response's status and headers through the tunnel, too.
    pub is_raw: bool,
    /// The entry of the tunnel in the list of its worker.
    pub place: TunnelPlace,
}

/// The application at the other end of a tunnel.
#[derive(Debug)]
pub enum TunnelApplication {
    /// The application, which has the other end of this socket.
    Worker(UnixStream),
    /// The edge itself.
    Edge(Box<dyn EdgeApplication>),
}

/// A part of the edge that a tunnel leads to.
pub trait EdgeApplication: AsyncRead + AsyncWrite + Unpin + Debug {
    /// Bytes that the part holds for the client.
    fn held_bytes(&self) -> usize;
    /// Why the part ends the tunnel, if it does.
    fn end(&self) -> Option<&'static str>;
    /// Tells the client to leave, and ends the tunnel, because others need the memory that it holds.
    fn make_room(&mut self);
}

/// A tunnel that takes the place of HTTP on a connection.
#[derive(Debug)]
pub struct Takeover {
    /// The tunnel to the application.
    pub tunnel: Tunnel,
    /// The response that the client gets first, unless the application sends it.
    pub head: Option<Parts>,
    /// The line of the access log, written at the end of the tunnel.
    pub log: Box<dyn TunnelLog>,
}

/// Records what passes through a tunnel.
pub trait TunnelLog: Debug {
    /// The application has sent its own status.
    fn responded(&mut self, status: StatusCode);
    /// The application has sent this many bytes.
    fn sent(&mut self, bytes: usize);
    /// The tunnel has ended for this reason.
    fn ended(&mut self, reason: &'static str);
}
