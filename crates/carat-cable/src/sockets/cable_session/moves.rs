use std::rc::Rc;
use std::time::Instant;

use super::extended_session::{ExtendedSession, HeldSubscription};
use super::subscription::{ENTRY_COST, Subscription};
use super::{CableSession, bytes_of};
use crate::sockets::session_record::{MovedExtended, SessionRecord};
use crate::{ClientOutbox, Hub, SocketNumber};

impl CableSession {
    /// What another edge needs to know, to go on with the client. It is `now`.
    pub fn record(&self, now: Instant) -> SessionRecord {
        let subscriptions = self.subscriptions.iter();
        let extended = self.extended.as_deref();
        SessionRecord {
            connection: self.connection.clone(),
            internal: self.internal.as_ref().map(|internal| (&**internal).into()),
            subscriptions: subscriptions.map(|it| it.moved(now)).collect(),
            waiting: self.waiting.iter().cloned().collect(),
            extended: extended.map(ExtendedSession::moved),
        }
    }

    /// A client that comes from another edge, and that is between two commands. It is `now`.
    pub fn resume(
        hub: &Rc<Hub>,
        (number, outbox): (SocketNumber, &Rc<ClientOutbox>),
        record: SessionRecord,
        now: Instant,
    ) -> CableSession {
        let internal = record.internal;
        let internal = internal.map(|internal| hub.listen(&internal, number, outbox));
        let kept = internal.as_ref().map_or(0, |name| name.len() + ENTRY_COST);
        let extended = record.extended.map(ExtendedSession::arrived);
        let mut session = CableSession {
            hub: Rc::clone(hub),
            number,
            outbox: Rc::clone(outbox),
            kept: kept + record.connection.len(),
            connection: record.connection,
            internal,
            subscriptions: Vec::with_capacity(record.subscriptions.len()),
            waiting_bytes: record.waiting.iter().map(bytes_of).sum(),
            waiting: record.waiting.into(),
            running: None,
            extended: extended.map(Box::new),
        };
        for moved in record.subscriptions {
            session.subscribe_again(Subscription::arrived(moved, now));
        }
        session
    }

    fn subscribe_again(&mut self, mut subscription: Subscription) {
        subscription.identifier = self.hub.identifier(&subscription.identifier);
        for stream in &mut subscription.streams {
            let socket = (self.number, &self.outbox);
            *stream = self.hub.start(stream, &subscription.identifier, socket);
        }
        self.kept += subscription.cost();
        self.subscriptions.push(subscription);
    }
}

impl ExtendedSession {
    /// Those that wait for the client do not move.
    fn moved(&self) -> MovedExtended {
        let gone_on = self.held.iter().map(|held| held.identifier.clone());
        MovedExtended {
            name: (&*self.name).into(),
            gone_on: gone_on.collect(),
            restored: self.restored.clone(),
        }
    }

    fn arrived(moved: MovedExtended) -> ExtendedSession {
        let held = moved.gone_on.into_iter().map(|identifier| {
            let goes_on = true;
            HeldSubscription {
                identifier,
                goes_on,
            }
        });
        ExtendedSession {
            name: moved.name.into(),
            leaves: false,
            held: held.collect(),
            restored: moved.restored,
        }
    }
}
