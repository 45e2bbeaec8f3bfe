use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use ring::digest::{SHA256, digest};

use super::{ClientOutbox, KEPT_SESSIONS_LIMIT, KeptSession};
use crate::CommandResult;

/// The memory that the entry of a session in `by_name` takes.
const LIVE_COST: usize = 256;

/// The identity of a client for the application. Whoever knows the name of a session, but has another identity, does
/// not get the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientIdentity([u8; 32]);

impl ClientIdentity {
    /// The identity of a client that the application has let in: the identifiers of its connection,
    /// or the record of its connection if it has no identifiers.
    pub fn of(result: &CommandResult) -> ClientIdentity {
        let (tag, text) = match (&result.internal, &result.connection) {
            (Some(internal), _) => ("i", &**internal),
            (None, connection) => ("c", connection.as_deref().unwrap_or_default()),
        };
        let digest = digest(&SHA256, [tag, text].concat().as_bytes());
        let mut identity = [0; 32];
        identity.copy_from_slice(digest.as_ref());
        ClientIdentity(identity)
    }
}

/// The sessions of all clients of the extended protocol, by name. The subscriptions of a client
/// that is away are kept here, together with an `O`.
///
/// ```
/// use carat_cable::{ClientIdentity, CommandResult, KeptSessions, SessionClaim};
///
/// let mut sessions = KeptSessions::<()>::new(300);
/// let identity = ClientIdentity::of(&CommandResult::default());
/// sessions.enter("5f", identity, &Default::default());
/// sessions.keep("5f", Default::default(), (), 1_700_000_000);
/// assert!(matches!(sessions.claim("5f", &identity), SessionClaim::Kept(_)));
/// assert!(matches!(sessions.claim("5f", &identity), SessionClaim::Unknown));
/// ```
#[derive(Debug)]
pub struct KeptSessions<O> {
    /// Seconds for which a client may be away.
    keeps: u64,
    by_name: HashMap<Rc<str>, NamedSession>,
    /// The sessions of clients that are away, the one away for longest first.
    away: BTreeMap<u64, AwaySession<O>>,
    last: u64,
    bytes: usize,
    limit: usize,
}

#[derive(Debug)]
struct NamedSession {
    identity: ClientIdentity,
    place: SessionPlace,
}

#[derive(Debug)]
enum SessionPlace {
    Live(Rc<ClientOutbox>),
    Away(u64),
}

/// The session of a client that is away.
#[derive(Debug)]
pub struct AwaySession<O> {
    name: Rc<str>,
    /// The Unix time in seconds at which the client left.
    since: u64,
    /// The subscriptions of the client.
    pub session: KeptSession,
    /// The value that is kept with the session.
    pub owner: O,
}

/// The state of a session whose client claims it.
#[derive(Debug)]
pub enum SessionClaim {
    /// No session has this name, or the session is another client's.
    Unknown,
    /// The client of the session is connected, as far as the server knows.
    Live(Rc<ClientOutbox>),
    /// The client of the session was away. Its session is taken out.
    Kept(KeptSession),
}

impl<O> KeptSessions<O> {
    /// Keeps each session for `keeps` seconds.
    pub fn new(keeps: u64) -> KeptSessions<O> {
        KeptSessions {
            keeps,
            by_name: HashMap::new(),
            away: BTreeMap::new(),
            last: 0,
            bytes: 0,
            limit: KEPT_SESSIONS_LIMIT,
        }
    }

    /// Sets the most bytes that the sessions of absent clients may take. Returns the sessions that
    /// ended for want of room.
    pub fn set_limit(&mut self, limit: usize) -> Vec<AwaySession<O>> {
        self.limit = limit;
        self.make_room(limit)
    }

    /// Ends sessions of absent clients, the oldest first, until they take at most `bytes` bytes. Returns the sessions
    /// that ended.
    pub fn make_room(&mut self, bytes: usize) -> Vec<AwaySession<O>> {
        let mut over = Vec::new();
        while self.bytes > bytes {
            over.extend(self.end_first());
        }
        over
    }

    /// Bytes of the sessions of clients that are away.
    pub fn away_bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of memory that all sessions take.
    pub fn held_bytes(&self) -> usize {
        self.bytes + self.by_name.len() * LIVE_COST
    }

    /// Adds the session of a client that has connected.
    pub fn enter(&mut self, name: &str, identity: ClientIdentity, outbox: &Rc<ClientOutbox>) {
        let place = SessionPlace::Live(Rc::clone(outbox));
        let session = NamedSession { identity, place };
        self.by_name.insert(name.into(), session);
    }

    /// Removes the session of a connected client that does not come back.
    pub fn leave(&mut self, name: &str) {
        self.by_name.remove(name);
    }

    /// Keeps the session of a client that has left at `now`, in seconds of Unix time. Returns the
    /// sessions that ended for want of room; this one, too, if its name is unknown.
    pub fn keep(
        &mut self,
        name: &str,
        session: KeptSession,
        owner: O,
        now: u64,
    ) -> Vec<AwaySession<O>> {
        self.last += 1;
        let away = AwaySession {
            name: name.into(),
            since: now,
            session,
            owner,
        };
        let Some((name, mut named)) = self.by_name.remove_entry(name) else {
            return vec![away];
        };
        named.place = SessionPlace::Away(self.last);
        self.bytes += away.session.held_bytes();
        self.away.insert(self.last, away);
        self.by_name.insert(name, named);
        self.make_room(self.limit)
    }

    /// Looks for the session of a client that has come back, and that the application has let in.
    /// The session is taken out if its client was away.
    pub fn claim(&mut self, name: &str, identity: &ClientIdentity) -> SessionClaim {
        let Some(named) = self.by_name.get(name).filter(|it| it.identity == *identity) else {
            return SessionClaim::Unknown;
        };
        match &named.place {
            SessionPlace::Live(outbox) => SessionClaim::Live(Rc::clone(outbox)),
            SessionPlace::Away(number) => {
                let away = self.take(*number);
                away.map_or(SessionClaim::Unknown, |away| {
                    SessionClaim::Kept(away.session)
                })
            }
        }
    }

    /// Removes and returns the sessions whose clients have been away for too long at `now`, in
    /// seconds of Unix time.
    pub fn expire(&mut self, now: u64) -> Vec<AwaySession<O>> {
        let oldest = now.saturating_sub(self.keeps);
        let mut over = Vec::new();
        while self
            .away
            .first_key_value()
            .is_some_and(|(_, it)| it.since < oldest)
        {
            over.extend(self.end_first());
        }
        over
    }

    /// Removes and returns the sessions of all absent clients.
    pub fn end_all(&mut self) -> Vec<AwaySession<O>> {
        std::iter::from_fn(|| self.end_first()).collect()
    }

    fn end_first(&mut self) -> Option<AwaySession<O>> {
        self.take(*self.away.first_key_value()?.0)
    }

    fn take(&mut self, number: u64) -> Option<AwaySession<O>> {
        let away = self.away.remove(&number)?;
        self.by_name.remove(&away.name);
        self.bytes -= away.session.held_bytes();
        Some(away)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(user: &str) -> ClientIdentity {
        ClientIdentity::of(&CommandResult {
            internal: Some(user.into()),
            ..CommandResult::default()
        })
    }

    fn owners(over: Vec<AwaySession<u64>>) -> Vec<u64> {
        over.into_iter().map(|away| away.owner).collect()
    }

    fn away(sessions: &mut KeptSessions<u64>, name: &str, bytes: usize) -> Vec<u64> {
        sessions.enter(name, identity("ann"), &Rc::default());
        let session = KeptSession::of_bytes(bytes);
        owners(sessions.keep(name, session, sessions.last, 100))
    }

    #[test]
    fn a_session_is_its_clients_alone_and_is_had_once() {
        let mut sessions = KeptSessions::<u64>::new(10);
        let outbox = Rc::default();
        sessions.enter("a", identity("ann"), &outbox);
        let found = sessions.claim("a", &identity("ben"));
        assert!(matches!(found, SessionClaim::Unknown));
        let SessionClaim::Live(live) = sessions.claim("a", &identity("ann")) else {
            panic!("the client is connected");
        };
        assert!(Rc::ptr_eq(&live, &outbox));
        sessions.keep("a", KeptSession::default(), 1, 100);
        let found = sessions.claim("a", &identity("ben"));
        assert!(matches!(found, SessionClaim::Unknown));
        let found = sessions.claim("a", &identity("ann"));
        assert!(matches!(found, SessionClaim::Kept(_)));
        let found = sessions.claim("a", &identity("ann"));
        assert!(matches!(found, SessionClaim::Unknown));
        assert_eq!(sessions.held_bytes(), 0);
    }

    #[test]
    fn without_identifiers_a_connection_is_what_it_has_kept() {
        let of = |connection: &str| {
            ClientIdentity::of(&CommandResult {
                connection: Some(connection.into()),
                ..CommandResult::default()
            })
        };
        assert_eq!(of("a"), of("a"));
        assert_ne!(of("a"), of("b"));
        assert_ne!(of("a"), identity("a"));
    }

    #[test]
    fn a_session_is_over_when_its_client_stays_away() {
        let mut sessions = KeptSessions::<u64>::new(10);
        away(&mut sessions, "a", 1);
        assert_eq!(sessions.expire(110).len(), 0);
        assert_eq!(sessions.expire(111).len(), 1);
        let found = sessions.claim("a", &identity("ann"));
        assert!(matches!(found, SessionClaim::Unknown));
        away(&mut sessions, "b", 1);
        assert_eq!((sessions.end_all().len(), sessions.held_bytes()), (1, 0));
        sessions.enter("c", identity("ann"), &Rc::default());
        sessions.leave("c");
        assert_eq!(sessions.held_bytes(), 0);
        assert_eq!(sessions.keep("c", KeptSession::default(), 1, 1).len(), 1);
    }

    #[test]
    fn when_memory_is_short_the_sessions_of_those_away_longest_are_given_up() {
        let mut sessions = KeptSessions::<u64>::new(10);
        for name in ["a", "b", "c", "d"] {
            away(&mut sessions, name, 1000);
        }
        assert_eq!(owners(sessions.make_room(2000)), [0, 1]);
        assert_eq!(owners(sessions.set_limit(1500)), [2]);
        assert_eq!(away(&mut sessions, "e", 1000), [3]);
        assert_eq!(sessions.away_bytes(), 1000);
    }

    #[test]
    fn sessions_of_clients_that_are_away_are_bounded_and_the_oldest_are_over() {
        let mut sessions = KeptSessions::<u64>::new(10);
        let third = KEPT_SESSIONS_LIMIT / 3;
        for name in ["a", "b", "c"] {
            assert!(away(&mut sessions, name, third).is_empty());
        }
        assert_eq!(away(&mut sessions, "d", third), [0]);
        assert!(sessions.bytes <= KEPT_SESSIONS_LIMIT);
    }
}
