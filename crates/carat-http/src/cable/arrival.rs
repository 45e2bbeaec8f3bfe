use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;

use carat_cable::{AwayRecord, EdgeMessage, SocketRecord};
use carat_exchange::{ConnectionState, Takeover, Tunnel, TunnelApplication};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::cable::cable_history::{restart, set_time};
use crate::cable::cable_sessions::PartedClient;
use crate::cable::client_record::peer_of;
use crate::cable::handover::EdgeLink;
use crate::cable::server::Cable;
use crate::cable::socket::CableSocket;
use crate::sockets::ClientStream;

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
        let keeps = self.hub.history().is_some();
        self.neighbors.arrivals.follow(&link, keeps);
        link
    }

    /// The old edge says something about broadcasts. False if it makes no sense.
    pub(crate) fn hear(self: &Rc<Self>, message: EdgeMessage<'_>) -> bool {
        let arrivals = &self.neighbors.arrivals;
        match message {
            // It is in the history that is yet to come.
            EdgeMessage::Broadcast { .. } if arrivals.are_behind() => {}
            EdgeMessage::Turn if arrivals.are_behind() => return arrivals.next().is_some(),
            EdgeMessage::Broadcast { stream, message } => self.deliver(stream, message),
            EdgeMessage::Turn => {
                let Some(next) = arrivals.next() else {
                    return false;
                };
                self.deliver(&next.stream, &next.message);
            }
            EdgeMessage::Ordered => self.order_alone(),
            EdgeMessage::Answer => arrivals.note_answer(),
            EdgeMessage::Away(record) => return self.receive_away(record).is_some(),
            message => return self.learn(message).is_some(),
        }
        true
    }

    /// A part of what the old edge has kept. `None` if it is none.
    fn learn(&self, message: EdgeMessage<'_>) -> Option<()> {
        let arrivals = &self.neighbors.arrivals;
        let mut history = self.hub.history().filter(|_| arrivals.are_behind())?;
        match message {
            EdgeMessage::Kept(kept) => {
                arrivals.note_part();
                history.keep_again(&kept).then_some(())
            }
            EdgeMessage::History(record) => {
                arrivals.catch_up();
                let goes_on = || {
                    history
                        .go_on(&serde_json::from_slice(record).ok()?)
                        .then_some(())
                };
                record.is_empty().then_some(()).or_else(goes_on)
            }
            _ => None,
        }
    }

    /// A client that is away may come back here. `None` if it is none.
    fn receive_away(self: &Rc<Self>, record: &[u8]) -> Option<()> {
        let record: AwayRecord = serde_json::from_slice(record).ok()?;
        let memory = self.dispatch.dispatcher.client_memory.account();
        let peer = Rc::new(peer_of(&record.client, None));
        let over = self.sessions.receive(record, PartedClient { peer, memory });
        self.end_kept(over);
        Some(())
    }

    /// Nobody puts broadcasts in order any more.
    fn order_alone(self: &Rc<Self>) {
        self.neighbors.arrivals.end_order();
        while let Some(next) = self.neighbors.arrivals.next() {
            self.deliver(&next.stream, &next.message);
        }
    }

    /// The old edge is gone. If it was to put broadcasts in order, nobody knows which ones its clients have heard.
    pub(crate) fn end_following(self: &Rc<Self>) {
        self.neighbors.arrivals.end_link();
        if self.neighbors.arrivals.are_following() {
            restart(&self.hub);
            self.order_alone();
        }
    }

    pub(super) fn deliver(self: &Rc<Self>, stream: &str, message: &[u8]) {
        set_time(&self.hub);
        if let Some(reached) = self.hub.deliver(stream, message) {
            self.note(reached);
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
        let stream = ClientStream::from_descriptor(socket, record.client.is_unix).ok()?;
        let peer = Rc::new(peer_of(&record.client, Some(reply)));
        let log = Box::new(self.opening(&peer)?);
        let mut place = self.places.open();
        if let Some(tunnel) = tunnel {
            place.keep(tunnel);
        }
        let session = (record.session, record.identity, record.reader);
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
