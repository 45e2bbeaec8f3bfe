//! How long an answer may wait for others, to be sent together with them.

use std::time::{Duration, Instant};

/// What an answer may wait while the lane is busy with the next requests.
const LIMIT: Duration = Duration::from_micros(100);

/// Decides when the answers of a lane have waited long enough.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    oldest: Option<Instant>,
    is_urgent: bool,
    /// About the slowest of the last requests; it fades by a sixteenth with each, so that a pause of
    /// the garbage collector does not end the gathering for long.
    slowest: Duration,
}

impl Patience {
    /// What waits has to go before the next request.
    pub(crate) fn hurry(&mut self) {
        self.is_urgent = true;
    }

    /// An answer waits to be sent; the application took `spent` for it.
    pub(crate) fn answered(&mut self, now: Instant, spent: Duration) {
        self.oldest.get_or_insert(now);
        self.slowest = spent.max(self.slowest * 15 / 16);
    }

    /// All answers have been sent.
    pub(crate) fn sent(&mut self) {
        self.oldest = None;
        self.is_urgent = false;
    }

    /// Whether the answers have to go before the next request: they have waited long enough, or it
    /// may be a long one.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        self.is_urgent
            || self
                .oldest
                .is_some_and(|oldest| self.slowest > LIMIT || now.duration_since(oldest) > LIMIT)
    }
}
