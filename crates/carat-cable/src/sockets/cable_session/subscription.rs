use std::rc::Rc;

use super::channel_timer::ChannelTimers;
use crate::SubscriptionRecord;

/// The memory that a subscription, one of its streams, or a command takes in addition to its texts.
pub(super) const ENTRY_COST: usize = 128;

/// A subscription of a client.
#[derive(Debug)]
pub(super) struct Subscription {
    pub(super) identifier: Rc<str>,
    pub(super) state: Option<Box<str>>,
    pub(super) streams: Box<[Rc<str>]>,
    /// Whether the edge has made the subscription itself, because the application has signed the
    /// name of the stream. The application does not know of it.
    pub(super) is_signed: bool,
    /// `None` for a channel without timers, as most are.
    pub(super) timers: Option<Box<ChannelTimers>>,
}

impl Subscription {
    /// Bytes of memory that the subscription takes.
    pub(super) fn cost(&self) -> usize {
        let streams: usize = self.streams.iter().map(|it| it.len() + ENTRY_COST).sum();
        let state = self.state.as_ref().map_or(0, |state| state.len());
        self.identifier.len() + ENTRY_COST + state + streams + self.timers_bytes()
    }

    /// The bytes of shared texts that are counted for other clients with the same subscription or
    /// stream.
    pub(super) fn shared_bytes(&self) -> usize {
        let streams: usize = self.streams.iter().map(|it| shared_bytes(it, 1)).sum();
        // The hub holds another reference to the identifier for each stream.
        streams + shared_bytes(&self.identifier, 1 + self.streams.len())
    }

    pub(super) fn timers_bytes(&self) -> usize {
        let timers = self.timers.as_ref();
        timers.map_or(0, |it| size_of_val(&*it.timers))
    }

    pub(super) fn record(&self) -> SubscriptionRecord<'_> {
        SubscriptionRecord {
            identifier: &self.identifier,
            state: self.state.as_deref(),
        }
    }
}

/// The bytes of a shared text that are counted for other clients, when `own` of its references are
/// this client's.
fn shared_bytes(text: &Rc<str>, own: usize) -> usize {
    let references = (Rc::strong_count(text) - 1).max(own);
    text.len() - text.len() * own / references
}
