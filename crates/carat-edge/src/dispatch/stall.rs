use std::cell::Cell;
use std::time::{Duration, Instant};

use carat_wire::is_behind;

use super::in_flight::InFlightRequests;

/// Whether a thread that serves requests concurrently has stopped beginning them, because one of its
/// fibers computes. A thread that is merely busy begins some from one look to the next.
#[derive(Debug, Default)]
pub(super) struct Stall {
    /// The last request that had begun at the last look, and since when it is known.
    seen: Cell<Option<(u32, Instant)>>,
    is_on: Cell<bool>,
}

impl Stall {
    /// Requests were recalled because the thread did not begin them.
    pub(super) fn begin(&self) {
        self.is_on.set(true);
    }

    /// The thread shows activity.
    pub(super) fn end(&self) {
        self.is_on.set(false);
    }

    /// Whether the thread is known to be stalled.
    pub(super) fn is_on(&self) -> bool {
        self.is_on.get()
    }

    /// Whether the last request had not begun at the last look.
    pub(super) fn may_be_behind(&self, in_flight: &InFlightRequests) -> bool {
        let begun = self.seen.get().map_or(0, |(begun, _)| begun);
        in_flight
            .newest()
            .is_some_and(|newest| is_behind(newest.id, begun))
    }

    /// Records what has `begun`. Returns how long nothing more has, although a request was waiting.
    pub(super) fn look(&self, in_flight: &InFlightRequests, begun: u32, now: Instant) -> Duration {
        let same = self.seen.get().filter(|(before, _)| *before == begun);
        let (_, since) = same.unwrap_or((begun, now));
        self.seen.set(Some((begun, since)));
        if same.is_none() {
            self.end();
        }
        let waiting = in_flight.first_behind(begun);
        waiting.map_or(Duration::ZERO, |first| {
            now.saturating_duration_since(since.max(first.since))
        })
    }
}
