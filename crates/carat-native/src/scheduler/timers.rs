//! What happens at a given time: a balanced tree, so that adding, cancelling and finding the next take O(log n), and
//! nothing stays behind of a timer that was cancelled.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::waits::Ticket;

/// What a timer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Purpose {
    /// A wait ends.
    Wait(Ticket),
    /// A block took too long.
    Timeout(u64),
}

/// All timers of a scheduler.
#[derive(Debug, Default)]
pub(crate) struct Timers(BTreeSet<(Instant, Purpose)>);

impl Timers {
    pub(crate) fn add(&mut self, at: Instant, purpose: Purpose) {
        self.0.insert((at, purpose));
    }

    /// Does nothing when the timer has expired.
    pub(crate) fn cancel(&mut self, at: Instant, purpose: Purpose) {
        self.0.remove(&(at, purpose));
    }

    /// Takes the first timer that is over.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<Purpose> {
        let first = self.0.first().filter(|(at, _)| *at <= now).copied()?;
        self.0.remove(&first);
        Some(first.1)
    }

    /// How long the next timer is away; `None` without timers.
    pub(crate) fn next_in(&self, now: Instant) -> Option<Duration> {
        let (at, _) = self.0.first()?;
        Some(at.saturating_duration_since(now))
    }
}
