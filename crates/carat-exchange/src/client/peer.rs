use carat_wire::Scheme;
use tokio::sync::OwnedSemaphorePermit;

use crate::client::proxy_policy::ProxyFields;

/// A variable of Rack's environment about a client: its name and its value.
pub type ClientVariable = (&'static str, Vec<u8>);

/// The two ends of a client connection, as the application sees them.
#[derive(Debug)]
pub struct Peer {
    /// The client's address as text. A client on a Unix socket has the address of this machine.
    pub remote: String,
    /// Whether the connection came over a Unix socket.
    pub is_unix: bool,
    /// The server's port, for requests that name none.
    pub local_port: u16,
    /// The scheme by which the client reached the first server, such as a proxy.
    pub scheme: Scheme,
    /// Variables about the client, in addition to its address.
    pub variables: Vec<ClientVariable>,
    /// The treatment of header fields by which the peer, a proxy, names its client.
    pub proxy_fields: ProxyFields,
    _reply: Option<OwnedSemaphorePermit>,
}

impl Peer {
    /// Keeps `reply`, the permit to open the file of a response, as long as a request of this client is in progress.
    pub fn new(
        remote: String,
        is_unix: bool,
        local_port: u16,
        reply: Option<OwnedSemaphorePermit>,
    ) -> Peer {
        Peer {
            remote,
            is_unix,
            local_port,
            scheme: Scheme::Http,
            variables: Vec::new(),
            proxy_fields: ProxyFields::default(),
            _reply: reply,
        }
    }

    /// The client for the access log. A client on a Unix socket, usually a proxy, has no address.
    pub fn logged(&self) -> &str {
        if self.is_unix { "unix:" } else { &self.remote }
    }
}
