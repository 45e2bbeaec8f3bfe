use std::cell::Cell;
use std::time::{Duration, Instant};

use carat_wire::is_behind;

use crate::lanes::in_flight::InFlightRequests;

/// Whether a thread has stopped beginning requests: one of its requests computes and lets no other run, or code of the
/// application runs on after a response. A thread that is merely busy begins a request from one look to the next.
#[derive(Debug, Default)]
pub(crate) struct Stall {
    /// The last request that the thread had begun when the page was last read, and since when that has been so.
    seen: Cell<Option<(u32, Instant)>>,
    since: Cell<Option<Instant>>,
}

impl Stall {
    /// Begins the stall, unless it is on: requests were recalled because the thread did not begin them.
    pub(crate) fn begin(&self, now: Instant) {
        self.since.set(self.since.get().or(Some(now)));
    }

    /// The thread shows activity.
    pub(crate) fn end(&self) {
        self.since.set(None);
    }

    /// Whether the thread is known to be stalled.
    pub(crate) fn is_on(&self) -> bool {
        self.since.get().is_some()
    }

    /// How long requests have been recalled because the thread did not begin them.
    pub(crate) fn lasted(&self, now: Instant) -> Duration {
        let since = self.since.get();
        since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    /// Whether the last request of the lane had not begun when the page was last read.
    pub(crate) fn may_be_behind(&self, in_flight: &InFlightRequests) -> bool {
        let begun = self.seen.get().map_or(0, |(begun, _)| begun);
        in_flight
            .newest()
            .is_some_and(|newest| is_behind(newest.id, begun))
    }

    /// Records the last request that the thread has `begun`. Returns for how long it has begun no other request,
    /// although one was waiting.
    pub(crate) fn look(&self, in_flight: &InFlightRequests, begun: u32, now: Instant) -> Duration {
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
