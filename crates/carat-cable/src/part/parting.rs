use std::rc::Rc;

use tokio::task::spawn_local;

use crate::part::server::Cable;
use crate::part::socket_client::SocketClient;
use crate::{AwaySession, CableSession};

impl Cable {
    /// Tells the application that the connection of a client has ended, and its subscriptions, too,
    /// unless the client may come back.
    pub(super) async fn client_left(
        self: &Rc<Self>,
        mut session: CableSession,
        client: &SocketClient,
    ) {
        let over = self.sessions.client_left(&mut session, client);
        self.end_kept(over);
        let body = session.close_body();
        drop(session);
        self.tell(body, client).await;
    }

    /// Tells the application of the end of subscriptions whose clients do not come back.
    pub(super) fn end_kept(self: &Rc<Self>, over: Vec<AwaySession<SocketClient>>) {
        for away in over {
            let cable = Rc::clone(self);
            spawn_local(async move {
                for body in away.session.end_bodies() {
                    cable.tell(body, &away.owner).await;
                }
            });
        }
    }

    /// Sends the application a command on behalf of a client whose socket is gone.
    async fn tell(self: &Rc<Self>, body: String, client: &SocketClient) {
        let result = self.command(body, client).await;
        let broadcasts = result.map(|result| result.broadcasts).unwrap_or_default();
        for (stream, message) in broadcasts {
            self.broadcast(stream.as_bytes(), message.as_bytes());
        }
    }
}
