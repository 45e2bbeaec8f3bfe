use std::rc::Rc;

use tokio::task::spawn_local;

use crate::part::cable_sessions::PartedClient;
use crate::part::server::Cable;
use crate::{CableSession, KeptSession};
use carat_exchange::{MemoryAccount, Peer};

impl Cable {
    /// The client of a session is gone. The application is told of the end of its connection, and of that of its
    /// subscriptions unless it may come back.
    pub(super) async fn part(
        self: &Rc<Self>,
        mut session: CableSession,
        (peer, memory): (Rc<Peer>, Rc<MemoryAccount>),
    ) {
        let over = self.sessions.part(&mut session, &peer, &memory);
        self.end_kept(over);
        let body = session.close_body();
        drop(session);
        self.tell(body, &peer, &memory).await;
    }

    /// Tells the application of the end of subscriptions whose clients do not come back.
    pub(super) fn end_kept(self: &Rc<Self>, over: Vec<(KeptSession, PartedClient)>) {
        for (session, client) in over {
            let cable = Rc::clone(self);
            spawn_local(async move {
                for body in session.end_bodies() {
                    cable.tell(body, &client.peer, &client.memory).await;
                }
            });
        }
    }

    /// A command for whose client there is no socket any more.
    async fn tell(self: &Rc<Self>, body: String, peer: &Rc<Peer>, memory: &Rc<MemoryAccount>) {
        let result = self.command(body, peer, memory).await;
        let broadcasts = result.map(|result| result.broadcasts).unwrap_or_default();
        for (stream, message) in broadcasts {
            self.broadcast(stream.as_bytes(), message.as_bytes());
        }
    }
}
