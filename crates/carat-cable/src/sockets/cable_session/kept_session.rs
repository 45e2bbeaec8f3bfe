use std::time::Instant;

use super::subscription::Subscription;
use crate::CommandBody;
use crate::sockets::session_record::SessionRecord;

/// What a session takes beside its texts.
const SESSION_COST: usize = 256;

/// The subscriptions of a client that is away.
#[derive(Debug, Default)]
pub struct KeptSession {
    pub(super) connection: Box<str>,
    pub(super) subscriptions: Vec<Subscription>,
    pub(super) bytes: usize,
}

impl KeptSession {
    /// That of a client that was away when another edge had it.
    pub fn resume(record: SessionRecord, now: Instant) -> KeptSession {
        let moved = record.subscriptions.into_iter();
        let subscriptions: Vec<_> = moved.map(|it| Subscription::arrived(it, now)).collect();
        let costs = subscriptions.iter().map(Subscription::cost);
        KeptSession {
            bytes: record.connection.len() + costs.sum::<usize>(),
            connection: record.connection,
            subscriptions,
        }
    }

    /// What another edge needs to know, to go on with the client. It is `now`.
    pub fn record(&self, now: Instant) -> SessionRecord {
        let subscriptions = self.subscriptions.iter();
        SessionRecord {
            connection: self.connection.clone(),
            subscriptions: subscriptions.map(|it| it.moved(now)).collect(),
            ..SessionRecord::default()
        }
    }

    /// Bytes that are held.
    pub fn held_bytes(&self) -> usize {
        self.bytes + SESSION_COST
    }

    /// The identifiers of its subscriptions.
    pub fn identifiers(&self) -> Vec<&str> {
        let subscriptions = self.subscriptions.iter();
        subscriptions
            .map(|subscription| &*subscription.identifier)
            .collect()
    }

    /// What the application is to know when the client does not come back: that each subscription has ended.
    pub fn end_bodies(&self) -> impl Iterator<Item = String> {
        let known = self.subscriptions.iter().filter(|it| !it.is_signed);
        known.map(|subscription| {
            let body = CommandBody::Unsubscribe {
                connection: &self.connection,
                identifier: &subscription.identifier,
                state: subscription.state.as_deref(),
            };
            body.to_json()
        })
    }

    #[cfg(test)]
    pub(crate) fn of_bytes(bytes: usize) -> KeptSession {
        KeptSession {
            bytes: bytes.saturating_sub(SESSION_COST),
            ..KeptSession::default()
        }
    }
}
