//! How long a response may wait for further responses, to be sent together with them.

use std::time::{Duration, Instant};

/// How long a response may wait while the lane serves the next requests.
const WAIT_LIMIT: Duration = Duration::from_micros(100);

/// Decides when the responses of a lane have waited long enough.
#[derive(Debug, Default)]
pub(crate) struct FlushPolicy {
    oldest: Option<Instant>,
    is_urgent: bool,
    /// The approximate time of the slowest recent request. It decreases by a sixteenth with each request, so that one
    /// garbage collection does not end the batching for long.
    slowest: Duration,
}

impl FlushPolicy {
    /// Notes that the outbox has to be sent before the next request.
    pub(crate) fn flush_soon(&mut self) {
        self.is_urgent = true;
    }

    /// Notes that a response is ready, for which the application took `spent`.
    pub(crate) fn responded(&mut self, now: Instant, spent: Duration) {
        self.oldest.get_or_insert(now);
        self.slowest = spent.max(self.slowest * 15 / 16);
    }

    /// Notes that all responses have been sent.
    pub(crate) fn sent(&mut self) {
        self.oldest = None;
        self.is_urgent = false;
    }

    /// Whether the responses have to be sent before the next request: they have waited long enough, or the next request
    /// may be slow.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        let is_due = |oldest| self.slowest > WAIT_LIMIT || now.duration_since(oldest) > WAIT_LIMIT;
        self.is_urgent || self.oldest.is_some_and(is_due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Duration = Duration::from_micros(10);

    #[test]
    fn quick_responses_wait_for_each_other_until_the_oldest_is_too_old() {
        let (mut policy, start) = (FlushPolicy::default(), Instant::now());
        assert!(!policy.is_due(start));
        policy.responded(start, QUICK);
        policy.responded(start + WAIT_LIMIT, QUICK);
        assert!(!policy.is_due(start + WAIT_LIMIT));
        assert!(policy.is_due(start + WAIT_LIMIT + QUICK));
        policy.sent();
        assert!(!policy.is_due(start + WAIT_LIMIT * 9));
    }

    #[test]
    fn behind_a_slow_request_responses_do_not_wait_until_quick_ones_follow() {
        let (mut policy, now) = (FlushPolicy::default(), Instant::now());
        policy.responded(now, WAIT_LIMIT * 4);
        assert!(policy.is_due(now));
        for _ in 0..22 {
            assert!(policy.is_due(now));
            policy.responded(now, QUICK);
        }
        assert!(!policy.is_due(now));
    }

    #[test]
    fn what_is_urgent_goes_before_the_next_request_even_without_a_response() {
        let mut policy = FlushPolicy::default();
        policy.flush_soon();
        assert!(policy.is_due(Instant::now()));
        policy.sent();
        assert!(!policy.is_due(Instant::now()));
    }
}
