use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::time::Duration;

use carat_cable::{EdgeMessage, HANDOVER_VERSION};
use carat_dispatch::FrameSocket;
use tokio::task::spawn_local;

use crate::cable::cable_history::restart;
use crate::cable::handover::EdgeLink;
use crate::cable::server::Cable;

impl Cable {
    /// What a new edge must have to take the sockets over: the version of what the two say, and the path.
    pub fn terms(&self) -> (u32, String) {
        (HANDOVER_VERSION, self.path.clone())
    }

    /// A new edge takes such sockets over, on this one. Without a version and a path in common, it gets none.
    pub fn precede(self: &Rc<Self>, link: UnixStream, (version, path): (u32, &str)) {
        let is_possible = version == HANDOVER_VERSION && path == self.path;
        let Ok(socket) = FrameSocket::new(link) else {
            return;
        };
        if is_possible {
            let link = Rc::<EdgeLink>::default();
            self.neighbors.departures.set_link(&link);
            spawn_local(Rc::clone(self).serve_successor(link, socket));
        }
    }

    async fn serve_successor(self: Rc<Self>, link: Rc<EdgeLink>, socket: FrameSocket) {
        let receive = |message: EdgeMessage<'_>, _| {
            match message {
                EdgeMessage::Broadcast { stream, message } => {
                    self.deliver(stream, message);
                    link.send(&EdgeMessage::Turn, None);
                }
                EdgeMessage::Room(count) => self.neighbors.departures.begin(count),
                EdgeMessage::Keeps => self.share_history(&link),
                EdgeMessage::Ask => link.send(&EdgeMessage::Answer, None),
                _ => return false,
            }
            true
        };
        link.serve(socket, receive).await;
        self.neighbors.departures.end(&link);
    }

    /// The new edge goes on with what this one has kept, if it keeps anything.
    fn share_history(&self, link: &EdgeLink) {
        let copy = self.hub.history().map(|history| history.copy());
        self.neighbors.departures.set_history_shared(copy.is_some());
        match copy {
            Some((items, record)) => link.send_history(items, &record),
            None => link.send(&EdgeMessage::History(&[]), None),
        }
    }

    /// Another server has taken over: sockets pass to it. Clients of the others are asked to connect again, one after the
    /// other, within this time.
    pub(crate) fn hand_over(self: &Rc<Self>, within: Duration) {
        let closing = self.begin_closing();
        if self.neighbors.departures.share_history() {
            self.send_away_clients();
        } else {
            self.end_kept(self.sessions.end_all());
        }
        let cable = Rc::clone(self);
        cable.neighbors.departures.set_under_way(true);
        spawn_local(async move {
            cable.leave(closing, within).await;
            cable.neighbors.departures.set_under_way(false);
        });
    }

    async fn leave(&self, closing: u64, within: Duration) {
        let departures = &self.neighbors.departures;
        let moved = departures.move_all(|| self.places.wake()).await;
        if self.closes(closing) {
            let left = self.places.count();
            let fields = [("moved", &moved as _), ("left", &left as _)];
            self.log.info("sockets of the cable handed over", &fields);
            departures.set_over(true);
            self.disconnect_each(closing, within).await;
        }
        departures.finish().await;
    }

    /// Clients that are away are to come back to the new edge, once it serves.
    pub(super) fn send_away_clients(&self) {
        let departures = &self.neighbors.departures;
        if departures.are_under_way() || departures.are_over() {
            departures.send_away_clients(|| self.sessions.take_first());
        }
    }

    /// Whether clients are about to go to another server.
    pub(crate) fn is_leaving(&self) -> bool {
        let departures = &self.neighbors.departures;
        departures.are_under_way() || departures.share_history() && !self.sessions.are_empty()
    }

    /// A socket, whose record was taken just now, goes to the new edge.
    pub(crate) fn send_away(&self, record: &[u8], socket: OwnedFd) {
        self.neighbors.departures.send_away(record, socket);
    }

    /// The server serves on: whoever is still connected stays. The other one may have counted on, as nobody knows here.
    pub(crate) fn keep_all(&self) {
        self.sessions.go_on();
        restart(&self.hub);
        self.neighbors.departures.set_over(false);
        self.begin_closing();
    }
}
