use std::rc::Rc;

use crate::HistoryPosition;

/// The state that only a client of the extended protocol has.
#[derive(Debug)]
pub(super) struct ExtendedSession {
    pub(super) name: Rc<str>,
    /// Whether the client has said that it does not come back.
    pub(super) leaves: bool,
    /// The subscriptions of a client that has come back, until it asks for what each of them has missed.
    pub(super) held: Vec<HeldSubscription>,
    /// The position of the history when the client connected.
    pub(super) restored: Option<HistoryPosition>,
}

#[derive(Debug)]
pub(super) struct HeldSubscription {
    pub(super) identifier: Box<str>,
    /// Whether the subscription does not wait any longer.
    pub(super) is_released: bool,
}
