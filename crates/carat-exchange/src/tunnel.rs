use std::fmt::Debug;
use std::os::unix::net::UnixStream;

use http::StatusCode;
use http::response::Parts;

use super::worker_tunnels::TunnelPlace;

/// What the application gets in place of its client's connection.
#[derive(Debug)]
pub struct Tunnel {
    /// The other end of the application's socket.
    pub socket: UnixStream,
    /// Whether the application sends the response's status and headers through the tunnel, too.
    pub is_raw: bool,
    /// Its place among the tunnels of its worker.
    pub place: TunnelPlace,
}

/// A tunnel that takes the place of HTTP on a connection.
#[derive(Debug)]
pub struct Takeover {
    /// The socket to the application.
    pub tunnel: Tunnel,
    /// What the client is sent first, unless the application sends it.
    pub head: Option<Parts>,
    /// The line of the access log, written at its end.
    pub log: Box<dyn TunnelLog>,
}

/// Records what passes through a tunnel.
pub trait TunnelLog: Debug {
    /// The application has sent its own status.
    fn responded(&mut self, status: StatusCode);
    /// The application has sent this many bytes.
    fn sent(&mut self, bytes: usize);
}
