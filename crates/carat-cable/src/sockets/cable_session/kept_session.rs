use super::subscription::Subscription;
use crate::CommandBody;

/// The memory that a session takes in addition to its texts.
const SESSION_COST: usize = 256;

/// The subscriptions of a client that is away.
#[derive(Debug, Default)]
pub struct KeptSession {
    pub(super) connection: Box<str>,
    pub(super) subscriptions: Vec<Subscription>,
    pub(super) bytes: usize,
}

impl KeptSession {
    /// Bytes of memory that the session takes.
    pub fn held_bytes(&self) -> usize {
        self.bytes + SESSION_COST
    }

    /// The identifiers of the subscriptions.
    pub fn identifiers(&self) -> Vec<&str> {
        let subscriptions = self.subscriptions.iter();
        subscriptions
            .map(|subscription| &*subscription.identifier)
            .collect()
    }

    /// The bodies of the commands that tell the application that the client does not come back: each subscription has
    /// ended.
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
