//! How a lane leaves room for the other fibers of its thread. Threads need no such rules: the kernel interrupts them.

use std::time::{Duration, Instant};

/// Other fibers have their turn at the latest after this much time with a lane's requests.
const STRETCH_LIMIT: Duration = Duration::from_millis(1);

/// When a lane has to let other fibers go on.
#[derive(Debug, Default)]
pub(crate) struct Fairness {
    is_due: bool,
    is_owed: bool,
    may_read: bool,
    resumed_at: Option<Instant>,
}

impl Fairness {
    /// From now on, fibers share the thread.
    pub(crate) fn begin(&mut self) {
        self.is_due = true;
    }

    /// Others have to have their turn before the next request.
    pub(crate) fn owe(&mut self) {
        self.is_owed = true;
    }

    /// Others have had their turn.
    pub(crate) fn resumed(&mut self) {
        self.is_owed = false;
        if self.is_due {
            self.may_read = true;
            self.resumed_at = Some(Instant::now());
        }
    }

    /// Whether the socket may be read before others had their turn: once, so that a busy edge cannot keep them waiting.
    pub(crate) fn may_read(&mut self) -> bool {
        !self.is_due || std::mem::take(&mut self.may_read)
    }

    /// Whether others have waited long enough.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        let has_passed = |at| now.saturating_duration_since(at) > STRETCH_LIMIT;
        self.is_owed || self.resumed_at.is_some_and(has_passed)
    }
}
