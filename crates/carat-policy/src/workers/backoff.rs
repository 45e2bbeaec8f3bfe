//! When to start a process again after it failed to boot.

use std::time::{Duration, Instant};

const FIRST_DELAY: Duration = Duration::from_millis(250);
const DELAY_LIMIT: Duration = Duration::from_secs(30);

/// The delay after consecutive failures. By default 0.25 s, doubled after each failure, up to 30 s.
#[derive(Debug)]
pub struct Backoff {
    first: Duration,
    limit: Duration,
    failures: u32,
    not_before: Option<Instant>,
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff::between(FIRST_DELAY, DELAY_LIMIT)
    }
}

impl Backoff {
    /// Creates a backoff with these delays.
    pub fn between(first: Duration, limit: Duration) -> Backoff {
        Backoff {
            first,
            limit,
            failures: 0,
            not_before: None,
        }
    }

    /// Records a failure, and returns the time until the next attempt. Failures during a delay count as one, because
    /// the processes were started together.
    pub fn fail(&mut self, now: Instant) -> Duration {
        if let Some(left) = self
            .not_before
            .and_then(|at| at.checked_duration_since(now))
        {
            if !left.is_zero() {
                return left;
            }
        }
        let delay = self
            .first
            .saturating_mul(1 << self.failures.min(16))
            .min(self.limit);
        self.failures += 1;
        self.not_before = Some(now + delay);
        delay
    }

    /// Records a success: the next failure starts with the first delay.
    pub fn succeed(&mut self) {
        *self = Backoff::between(self.first, self.limit);
    }

    /// Whether the delay has passed.
    pub fn allows(&self, now: Instant) -> bool {
        self.not_before.is_none_or(|not_before| now >= not_before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_doubles_up_to_its_limit_and_restarts_after_a_success() {
        let mut now = Instant::now();
        let mut backoff = Backoff::default();
        assert!(backoff.allows(now));
        for milliseconds in [250, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000] {
            let delay = Duration::from_millis(milliseconds);
            assert_eq!(backoff.fail(now), delay);
            assert!(!backoff.allows(now + delay / 2));
            now += delay;
            assert!(backoff.allows(now));
        }
        backoff.succeed();
        assert!(backoff.allows(now));
    }

    #[test]
    fn failures_during_a_delay_count_as_one() {
        let now = Instant::now();
        let mut backoff = Backoff::default();
        let (first, half) = (Duration::from_millis(250), Duration::from_millis(125));
        assert_eq!(backoff.fail(now), first);
        assert_eq!(backoff.fail(now), first);
        assert_eq!(backoff.fail(now + half), half);
        assert_eq!(backoff.fail(now + first), first * 2);
    }
}
