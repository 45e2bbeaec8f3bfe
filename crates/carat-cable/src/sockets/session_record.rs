use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ClientCommand;

/// A client between two commands, for another edge.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SessionRecord {
    pub(super) connection: Box<str>,
    pub(super) internal: Option<Box<str>>,
    pub(super) subscriptions: Vec<MovedSubscription>,
    pub(super) waiting: Vec<ClientCommand>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MovedSubscription {
    pub(super) identifier: Box<str>,
    pub(super) state: Option<Box<str>>,
    pub(super) streams: Vec<Box<str>>,
    pub(super) is_signed: bool,
    pub(super) whisper: Option<Box<str>>,
    pub(super) presence: Option<Box<str>>,
    /// JSON of who is present there by it.
    pub(super) member: Option<Box<str>>,
    pub(super) timers: Vec<MovedTimer>,
}

/// A timer of a channel.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MovedTimer {
    pub(super) every: Duration,
    /// Until it is due.
    pub(super) left: Duration,
}

#[cfg(test)]
impl SessionRecord {
    pub(crate) fn subscribe_for_test(&mut self, identifier: &str, stream: &str, is_signed: bool) {
        self.subscriptions.push(MovedSubscription {
            identifier: identifier.into(),
            state: None,
            streams: vec![stream.into()],
            is_signed,
            whisper: None,
            presence: None,
            member: None,
            timers: Vec::new(),
        });
    }
}
