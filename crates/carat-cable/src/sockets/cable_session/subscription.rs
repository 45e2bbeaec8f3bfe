use std::rc::Rc;

use super::channel_timer::ChannelTimers;
use crate::SubscriptionRecord;

/// The memory of a subscription, of one of its streams, or of a command, beside its texts.
pub(super) const ENTRY_COST: usize = 128;

/// A subscription of a client.
#[derive(Debug)]
pub(super) struct Subscription {
    pub(super) identifier: Rc<str>,
    pub(super) state: Option<Box<str>>,
    pub(super) streams: Box<[Rc<str>]>,
    /// The application does not know of it: it has signed the name of the stream.
    pub(super) is_signed: bool,
    /// `None` for most.
    pub(super) timers: Option<Box<ChannelTimers>>,
}

impl Subscription {
    /// Bytes that it takes.
    pub(super) fn cost(&self) -> usize {
        let streams: usize = self.streams.iter().map(|it| it.len() + ENTRY_COST).sum();
        let state = self.state.as_ref().map_or(0, |state| state.len());
        self.identifier.len() + ENTRY_COST + state + streams + self.timers_bytes()
    }

    /// Bytes of its texts that are counted for other clients, which have subscribed to the same.
    pub(super) fn shared_bytes(&self) -> usize {
        let streams: usize = self.streams.iter().map(|it| shared_bytes(it, 1)).sum();
        // The hub has it once for each stream, too.
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

/// The bytes of a text of the hub that count for other clients, when this client refers to it `own` times.
fn shared_bytes(text: &Rc<str>, own: usize) -> usize {
    let references = (Rc::strong_count(text) - 1).max(own);
    text.len() - text.len() * own / references
}
