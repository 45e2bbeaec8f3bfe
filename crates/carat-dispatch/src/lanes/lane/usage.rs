use std::cell::Cell;
use std::time::{Duration, Instant};

use carat_exchange::clock;

/// Counts the requests of a lane.
#[derive(Debug)]
pub(crate) struct Usage {
    since: Instant,
    begun: Cell<u64>,
    last: Cell<Instant>,
}

impl Default for Usage {
    fn default() -> Self {
        let since = clock::now();
        Usage {
            since,
            begun: Cell::new(0),
            last: Cell::new(since),
        }
    }
}

impl Usage {
    /// A request was sent.
    pub(crate) fn begin(&self, now: Instant) {
        self.begun.set(self.begun.get() + 1);
        self.last.set(now);
    }

    /// Takes back the count of requests that the worker did not begin.
    pub(crate) fn take_back(&self, count: usize) {
        self.begun.set(self.begun.get() - count as u64);
    }

    /// A request is over.
    pub(crate) fn end(&self, now: Instant) {
        self.last.set(now);
    }

    /// How many requests were sent and not taken back.
    pub(crate) fn begun(&self) -> u64 {
        self.begun.get()
    }

    /// How many requests were sent and not taken back in a thousand seconds.
    pub(crate) fn rate(&self, now: Instant) -> u64 {
        let age = now.saturating_duration_since(self.since).as_millis().max(1);
        u64::try_from(u128::from(self.begun()) * 1_000_000 / age).unwrap_or(u64::MAX)
    }

    /// How long ago a request last began or ended.
    pub(crate) fn quiet(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.last.get())
    }
}
