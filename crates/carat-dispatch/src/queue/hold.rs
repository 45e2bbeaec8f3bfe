use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::queue::excluded_times::ExcludedTimes;

/// A time in which all requests wait in the queue, such as a pause that `carat pause` began. Holds do not count against
/// `queue_timeout`.
#[derive(Debug, Default)]
pub(crate) struct Hold {
    current: Cell<Option<HoldSpan>>,
    past: ExcludedTimes,
}

#[derive(Debug, Clone, Copy)]
struct HoldSpan {
    since: Instant,
    until: Instant,
}

impl Hold {
    /// Begins a hold, or lets the current one end after `duration`.
    pub(crate) fn begin(&self, now: Instant, duration: Duration) {
        let since = self.current.get().map_or(now, |span| span.since);
        let until = now + duration;
        self.current.set(Some(HoldSpan { since, until }));
    }

    /// Ends the hold. Returns false if none was on.
    pub(crate) fn end(&self, now: Instant) -> bool {
        let Some(span) = self.current.take() else {
            return false;
        };
        let duration = now.saturating_duration_since(span.since);
        self.past.add(now, duration);
        true
    }

    /// How much longer the hold lasts.
    pub(crate) fn left(&self, now: Instant) -> Option<Duration> {
        let span = self.current.get()?;
        Some(span.until.saturating_duration_since(now))
    }

    /// Whether requests are held.
    pub(crate) fn is_on(&self) -> bool {
        self.current.get().is_some()
    }

    /// `timeout`, extended by the holds in which a request may have waited.
    pub(crate) fn extend(&self, timeout: Duration, now: Instant) -> Duration {
        self.past.extend(timeout, now)
    }
}
