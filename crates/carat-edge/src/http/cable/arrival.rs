use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;

use carat_cable::{EdgeMessage, Payload, SocketRecord};
use carat_exchange::{ConnectionState, Peer, Takeover, Tunnel, TunnelApplication};
use carat_wire::Scheme;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::http::cable::cable_history::set_time;
use crate::http::cable::handover::EdgeLink;
use crate::http::cable::server::Cable;
use crate::http::cable::socket::CableSocket;
use crate::http::sockets::ClientStream;

/// A socket that has come from the old edge.
pub(crate) struct ArrivedSocket {
    pub(crate) stream: ClientStream,
    pub(crate) takeover: Takeover,
    /// What the client has sent.
    pub(crate) received: Vec<u8>,
    /// What it gets first.
    pub(crate) unsent: Vec<u8>,
}

impl Cable {
    /// Another edge has sockets, which may come here: until then, it puts broadcasts in order.
    pub(crate) fn follow(&self) -> Rc<EdgeLink> {
        let link = Rc::<EdgeLink>::default();
        let order = Some(Rc::clone(&link));
        self.neighbors.arrivals.set_order(order);
        link
    }

    /// The old edge says something about broadcasts. False if it makes no sense.
    pub(crate) fn hear(self: &Rc<Self>, message: EdgeMessage<'_>) -> bool {
        match message {
            EdgeMessage::Broadcast { stream, message } => self.deliver(stream, message),
            EdgeMessage::Whisper { stream, message } => self.deliver_whisper(stream, message),
            EdgeMessage::Turn => {
                let Some(next) = self.neighbors.arrivals.next() else {
                    return false;
                };
                self.deliver(&next.stream, &next.message);
            }
            EdgeMessage::Ordered => self.order_alone(),
            _ => return false,
        }
        true
    }

    /// Nobody puts broadcasts in order any more.
    pub(crate) fn order_alone(self: &Rc<Self>) {
        self.neighbors.arrivals.set_order(None);
        while let Some(next) = self.neighbors.arrivals.next() {
            self.deliver(&next.stream, &next.message);
        }
    }

    pub(super) fn deliver(self: &Rc<Self>, stream: &str, message: &[u8]) {
        set_time(&self.hub);
        if let Some(reached) = self.hub.deliver(stream, message) {
            self.note(reached);
        }
    }

    /// A client of the other edge whispers to those of this one.
    pub(super) fn deliver_whisper(self: &Rc<Self>, stream: &str, message: &[u8]) {
        if let Some(payload) = Payload::parse(message) {
            self.note(self.hub.deliver_whisper(stream, &payload, None));
        }
    }

    /// The permits of tunnels, if there may be only so many.
    pub(crate) fn permits(&self) -> Option<&Arc<Semaphore>> {
        self.permits.as_ref()
    }

    /// A socket that has come from the old edge goes on here. `reply` and `tunnel` are its permits. `None` if it is none.
    pub(crate) fn resume(
        self: &Rc<Self>,
        (record, socket): (&[u8], OwnedFd),
        (reply, tunnel): (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>),
        state: &ConnectionState,
    ) -> Option<ArrivedSocket> {
        let record = SocketRecord::decode(record)?;
        let client = &record.client;
        let stream = ClientStream::from_descriptor(socket, client.is_unix).ok()?;
        let remote = client.remote.clone();
        let mut peer = Peer::new(remote, client.is_unix, client.local_port, Some(reply));
        if client.is_https {
            peer.scheme = Scheme::Https;
        }
        let peer = Rc::new(peer);
        let log = Box::new(self.opening(&peer)?);
        let mut place = self.places.open();
        if let Some(tunnel) = tunnel {
            place.keep(tunnel);
        }
        let session = (record.session, record.reader);
        let socket = CableSocket::resume(self, session, peer, state.memory());
        let tunnel = Tunnel {
            application: TunnelApplication::Edge(Box::new(socket)),
            is_raw: false,
            place,
        };
        let head = None;
        Some(ArrivedSocket {
            stream,
            takeover: Takeover { tunnel, head, log },
            received: record.received,
            unsent: record.unsent,
        })
    }
}
