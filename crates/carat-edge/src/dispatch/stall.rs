use std::cell::Cell;
use std::time::{Duration, Instant};

use carat_wire::is_behind;

use super::holding::Holding;

/// Whether a thread that works on many requests comes to those that it is given: one of its fibers may compute, and then
/// nothing is begun. It is told from a thread that merely has much to do by what it begins from one look to the next.
#[derive(Debug, Default)]
pub(super) struct Stall {
    /// What had begun when it was looked last, and since when it is known to have.
    seen: Cell<Option<(u32, Instant)>>,
    is_on: Cell<bool>,
}

impl Stall {
    /// Requests were taken away from the thread because it did not come to them.
    pub(super) fn begin(&self) {
        self.is_on.set(true);
    }

    /// The thread shows life.
    pub(super) fn end(&self) {
        self.is_on.set(false);
    }

    /// Whether the thread is known to come to nothing.
    pub(super) fn is_on(&self) -> bool {
        self.is_on.get()
    }

    /// Whether the last request may not have begun, as far as was seen.
    pub(super) fn may_be_behind(&self, held: &Holding) -> bool {
        let begun = self.seen.get().map_or(0, |(begun, _)| begun);
        held.newest()
            .is_some_and(|newest| is_behind(newest.id, begun))
    }

    /// Takes note of what has `begun`; how long nothing more has, though there was something to begin.
    pub(super) fn look(&self, held: &Holding, begun: u32, now: Instant) -> Duration {
        let same = self.seen.get().filter(|(before, _)| *before == begun);
        let (_, since) = same.unwrap_or((begun, now));
        self.seen.set(Some((begun, since)));
        if same.is_none() {
            self.end();
        }
        let waiting = held.first_behind(begun);
        waiting.map_or(Duration::ZERO, |first| {
            now.saturating_duration_since(since.max(first.since))
        })
    }
}
