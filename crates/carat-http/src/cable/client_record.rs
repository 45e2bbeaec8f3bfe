use carat_cable::ClientRecord;
use carat_exchange::Peer;
use carat_wire::Scheme;
use tokio::sync::OwnedSemaphorePermit;

/// A client, as the old edge knows it.
pub(super) fn peer_of(client: &ClientRecord, reply: Option<OwnedSemaphorePermit>) -> Peer {
    let remote = client.remote.clone();
    let mut peer = Peer::new(remote, client.is_unix, client.local_port, reply);
    if client.is_https {
        peer.scheme = Scheme::Https;
    }
    peer
}

/// What the new edge is to know of a client.
pub(super) fn record_of(peer: &Peer) -> ClientRecord {
    ClientRecord {
        remote: peer.remote.clone(),
        is_unix: peer.is_unix,
        local_port: peer.local_port,
        is_https: peer.scheme == Scheme::Https,
    }
}
