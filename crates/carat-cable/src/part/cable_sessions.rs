use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use crate::part::cable_history::{random_name, unix_seconds};
use crate::part::socket_client::SocketClient;
use crate::{
    AwaySession, CableSession, ClientIdentity, ClientOutbox, CommandResult, KeptSession,
    KeptSessions, SessionClaim, SocketEnd,
};
use carat_settings::Settings;

/// How long a client that has come back waits for the end of its old socket. The server may not know yet that the
/// client has left that socket.
const RETURN_LIMIT: Duration = Duration::from_secs(1);

/// The sessions of the clients of the extended protocol, also of those that are away.
#[derive(Debug)]
pub(super) struct CableSessions {
    kept: RefCell<KeptSessions<SocketClient>>,
    /// Notified when a client is gone: a claim may wait for the end of the client's old socket.
    changed: Notify,
    /// Whether the server ends. No session is kept then, because no client comes back to this
    /// server.
    ends: Cell<bool>,
}

impl CableSessions {
    pub(super) fn new(settings: &Settings) -> CableSessions {
        let keeps = settings.parts.cable.history.unwrap_or_default();
        CableSessions {
            kept: RefCell::new(KeptSessions::new(keeps.as_secs())),
            changed: Notify::new(),
            ends: Cell::new(false),
        }
    }

    /// Whether sessions wait for their clients.
    pub(super) fn is_anybody_away(&self) -> bool {
        self.kept.borrow().away_bytes() > 0
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.kept.borrow().held_bytes()
    }

    /// Takes the session of a client that has come back. `None` if there is no session with this
    /// name, or if the application has not let the client in with the same identity again.
    pub(super) async fn claim(&self, name: &str, result: &CommandResult) -> Option<KeptSession> {
        result.connection.as_ref()?;
        let identity = ClientIdentity::of(result);
        let claimed = timeout(RETURN_LIMIT, async {
            loop {
                let mut changed = pin!(self.changed.notified());
                changed.as_mut().enable();
                let claim = self.kept.borrow_mut().claim(name, &identity);
                match claim {
                    SessionClaim::Unknown => return None,
                    SessionClaim::Kept(session) => return Some(session),
                    SessionClaim::Live(outbox) => outbox.end(SocketEnd::Returned, None),
                }
                changed.await;
            }
        });
        claimed.await.ok().flatten()
    }

    /// Begins a session for a client that the application has let in, and returns its name. `None`
    /// if the client was refused, or if there are no random bytes for a name.
    pub(super) fn enter(
        &self,
        result: &CommandResult,
        outbox: &Rc<ClientOutbox>,
    ) -> Option<Rc<str>> {
        result.connection.as_ref()?;
        let (name, identity) = (random_name()?, ClientIdentity::of(result));
        self.kept.borrow_mut().enter(&name, identity, outbox);
        Some(name.into())
    }

    /// Keeps the session of a client that is gone, if the client may come back. Returns the
    /// sessions that ended to make room for it.
    pub(super) fn client_left(
        &self,
        session: &mut CableSession,
        client: &SocketClient,
    ) -> Vec<AwaySession<SocketClient>> {
        let Some(name) = session.name().cloned() else {
            return Vec::new();
        };
        let mut kept = self.kept.borrow_mut();
        self.changed.notify_waiters();
        if self.ends.get() || !session.may_return() {
            kept.leave(&name);
            return Vec::new();
        }
        let client = client.without_connection();
        kept.keep(&name, session.keep(), client, unix_seconds())
    }

    /// Ends the sessions of clients that have been away for too long, then the oldest sessions
    /// until all absent clients take at most `limit` bytes, or half of what they take while memory
    /// `is_short`. Returns the sessions that ended. Called once a tick.
    pub(super) fn tick(&self, limit: usize, is_short: bool) -> Vec<AwaySession<SocketClient>> {
        let mut kept = self.kept.borrow_mut();
        let mut over = kept.expire(unix_seconds());
        over.extend(kept.set_limit(limit));
        if is_short {
            let half = kept.away_bytes() / 2;
            over.extend(kept.make_room(half));
        }
        over
    }

    /// Ends the sessions of all absent clients and returns them: the server ends, and keeps no
    /// session from now on.
    pub(super) fn end_all(&self) -> Vec<AwaySession<SocketClient>> {
        self.ends.set(true);
        self.kept.borrow_mut().end_all()
    }
}
