//! When a lane lets the others that share its thread run. Threads need no such rules: the kernel preempts them.

use std::time::{Duration, Instant};

/// How long a lane may serve requests until others that share its thread run.
const RUN_LIMIT: Duration = Duration::from_millis(1);

/// Decides when a lane has to let others run.
#[derive(Debug, Default)]
pub(crate) struct Fairness {
    is_shared: bool,
    is_owed: bool,
    may_read: bool,
    resumed_at: Option<Instant>,
}

impl Fairness {
    /// From now on, the slots of the lane share one thread.
    pub(crate) fn share(&mut self) {
        self.is_shared = true;
    }

    /// Notes that others have to run before the next request.
    pub(crate) fn owe(&mut self) {
        self.is_owed = true;
    }

    /// Notes that others have run.
    pub(crate) fn resumed(&mut self, now: Instant) {
        self.is_owed = false;
        if self.is_shared {
            self.may_read = true;
            self.resumed_at = Some(now);
        }
    }

    /// Whether the lane may read the socket before others run: once, so that a busy edge cannot starve them.
    pub(crate) fn may_read(&mut self) -> bool {
        !self.is_shared || std::mem::take(&mut self.may_read)
    }

    /// Whether others have waited long enough.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        let has_passed = |at| now.saturating_duration_since(at) > RUN_LIMIT;
        self.is_owed || self.resumed_at.is_some_and(has_passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(now: Instant) -> Fairness {
        let mut fairness = Fairness::default();
        fairness.share();
        fairness.resumed(now);
        fairness
    }

    #[test]
    fn others_run_after_a_millisecond_of_requests() {
        let now = Instant::now();
        let fairness = shared(now);
        assert!(!fairness.is_due(now + RUN_LIMIT));
        assert!(fairness.is_due(now + RUN_LIMIT * 2));
    }

    #[test]
    fn fibers_that_were_woken_run_before_the_next_request() {
        let now = Instant::now();
        let mut fairness = shared(now);
        fairness.owe();
        assert!(fairness.is_due(now));
        fairness.resumed(now);
        assert!(!fairness.is_due(now));
    }

    #[test]
    fn the_socket_is_read_once_between_two_turns_of_the_others() {
        let now = Instant::now();
        let mut fairness = shared(now);
        assert!(fairness.may_read());
        assert!(!fairness.may_read());
        fairness.resumed(now);
        assert!(fairness.may_read());
    }

    #[test]
    fn a_thread_of_its_own_owes_nobody_anything() {
        let now = Instant::now();
        let mut fairness = Fairness::default();
        fairness.resumed(now);
        assert!(fairness.may_read() && fairness.may_read());
        assert!(!fairness.is_due(now + RUN_LIMIT * 2));
    }
}
