/// The two ends of a client connection, as the application sees them.
#[derive(Debug)]
pub(crate) struct Peer {
    /// The client's address as text.
    pub(crate) remote: String,
    /// The server's port, for requests that name none.
    pub(crate) local_port: u16,
}
