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
    /// A socket is given up.
    changed: Notify,
    /// The server ends: nobody comes back.
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

    /// The session of a client that has come back, and that the application has let in again: it must be who it was.
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

    /// The name of the session of a client that the application has let in; `None` if it has not, or if none can be made.
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

    /// The client of a session is gone. Returns sessions that are over because this one is kept.
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

    /// Ends sessions whose clients have been away for too long, or which take more than `limit` bytes, and half of the others
    /// while memory `is_short`. Called once a tick.
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

    /// Nobody comes back.
    pub(super) fn end_all(&self) -> Vec<AwaySession<SocketClient>> {
        self.ends.set(true);
        self.kept.borrow_mut().end_all()
    }
}
