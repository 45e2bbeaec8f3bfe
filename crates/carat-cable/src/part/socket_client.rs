use std::rc::Rc;

use carat_exchange::{MemoryAccount, Peer};

/// The client of a socket, in whose name the application gets commands.
#[derive(Debug, Clone)]
pub struct SocketClient {
    /// The client's address, as the application sees it.
    pub peer: Rc<Peer>,
    /// The account of the memory that commands take.
    pub memory: Rc<MemoryAccount>,
}

impl SocketClient {
    /// The client after the end of its connection: it keeps neither the connection's permit nor what TLS knows of the client.
    pub(super) fn without_connection(&self) -> SocketClient {
        let peer = &self.peer;
        let mut alone = Peer::new(peer.remote.clone(), peer.is_unix, peer.local_port, None);
        alone.scheme = peer.scheme;
        SocketClient {
            peer: Rc::new(alone),
            memory: Rc::clone(&self.memory),
        }
    }
}
