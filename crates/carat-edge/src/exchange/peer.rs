/// The two ends of a client connection, as the application sees them.
#[derive(Debug)]
pub(crate) struct Peer {
    /// The client's address as text. A client on a Unix socket has that of this machine.
    pub(crate) remote: String,
    /// Whether the connection came over a Unix socket.
    pub(crate) is_unix: bool,
    /// The server's port, for requests that name none.
    pub(crate) local_port: u16,
}

impl Peer {
    /// The client for the access log. Nobody knows the address of a client on a Unix socket, usually a proxy.
    pub(crate) fn logged(&self) -> &str {
        if self.is_unix { "unix:" } else { &self.remote }
    }
}
