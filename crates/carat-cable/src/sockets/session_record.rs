use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{ClientCommand, HistoryPosition};

/// A client between two commands, for another edge.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SessionRecord {
    pub(super) connection: Box<str>,
    pub(super) internal: Option<Box<str>>,
    pub(super) subscriptions: Vec<MovedSubscription>,
    pub(super) waiting: Vec<ClientCommand>,
    pub(super) extended: Option<MovedExtended>,
}

/// What a client of the extended protocol has beside.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MovedExtended {
    pub(super) name: Box<str>,
    /// The subscriptions that went on before the client had asked for what they had missed.
    pub(super) gone_on: Vec<Box<str>>,
    pub(super) restored: Option<HistoryPosition>,
}

impl SessionRecord {
    /// What the client of the extended protocol says when it comes back.
    pub fn name(&self) -> Option<&str> {
        self.extended.as_ref().map(|extended| &*extended.name)
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MovedSubscription {
    pub(super) identifier: Box<str>,
    pub(super) state: Option<Box<str>>,
    pub(super) streams: Vec<Box<str>>,
    pub(super) is_signed: bool,
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
            timers: Vec::new(),
        });
    }
}
