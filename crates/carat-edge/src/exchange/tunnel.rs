use std::fmt::Debug;
use std::os::unix::net::UnixStream;

use http::StatusCode;
use http::response::Parts;

use super::worker_tunnels::TunnelPlace;

/// What the application gets in place of its client's connection.
#[derive(Debug)]
pub(crate) struct Tunnel {
    /// The other end of the application's socket.
    pub(crate) socket: UnixStream,
    /// Whether the application sends the response's status and headers through the tunnel, too.
    pub(crate) is_raw: bool,
    pub(crate) place: TunnelPlace,
}

/// A tunnel that takes the place of HTTP on a connection.
#[derive(Debug)]
pub(crate) struct Takeover {
    pub(crate) tunnel: Tunnel,
    /// What the client is sent first, unless the application sends it.
    pub(crate) head: Option<Parts>,
    pub(crate) log: Box<dyn TunnelLog>,
}

/// Records what passes through a tunnel.
pub(crate) trait TunnelLog: Debug {
    /// The application has sent its own status.
    fn responded(&mut self, status: StatusCode);
    /// The application has sent this many bytes.
    fn sent(&mut self, bytes: usize);
}
