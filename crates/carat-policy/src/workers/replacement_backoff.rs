//! Whether to replace a worker again when the last replacement did not help.

use std::time::{Duration, Instant};

use crate::Backoff;

const FIRST_PAUSE: Duration = Duration::from_secs(10);
const PAUSE_LIMIT: Duration = Duration::from_secs(600);

/// Limits how often workers are replaced for their memory, in case each new worker needs as much as the old one.
#[derive(Debug)]
pub struct ReplacementBackoff {
    backoff: Backoff,
    /// Whether a warning said that replacing does not help.
    has_warned: bool,
}

/// The advice about a worker that needs too much memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplacementAdvice {
    /// Replace the worker.
    Replace,
    /// A recent replacement did not help: log a warning.
    Warn,
    /// The warning was logged: wait.
    Wait,
}

impl Default for ReplacementBackoff {
    fn default() -> Self {
        ReplacementBackoff {
            backoff: Backoff::between(FIRST_PAUSE, PAUSE_LIMIT),
            has_warned: false,
        }
    }
}

impl ReplacementBackoff {
    /// Decides about a worker that should be replaced.
    pub fn advise(&mut self, now: Instant) -> ReplacementAdvice {
        if self.backoff.allows(now) {
            self.backoff.fail(now);
            ReplacementAdvice::Replace
        } else if self.has_warned {
            ReplacementAdvice::Wait
        } else {
            self.has_warned = true;
            ReplacementAdvice::Warn
        }
    }

    /// Records that memory is within its limit. The delays are reset only if the current one has passed.
    pub fn recover(&mut self, now: Instant) {
        if self.backoff.allows(now) {
            self.backoff.succeed();
            self.has_warned = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn what_does_not_help_has_warned_once_and_tried_ever_more_seldom() {
        let start = Instant::now();
        let mut backoff = ReplacementBackoff::default();
        let advice: Vec<_> = (0..100)
            .map(|second| backoff.advise(start + SECOND * second))
            .collect();
        let at = |expected| {
            let seconds = advice.iter().enumerate();
            let seconds = seconds.filter(|(_, found)| **found == expected);
            seconds.map(|(second, _)| second).collect::<Vec<_>>()
        };
        assert_eq!(at(ReplacementAdvice::Replace), [0, 10, 30, 70]);
        assert_eq!(at(ReplacementAdvice::Warn), [1]);
    }

    #[test]
    fn a_replacement_that_helped_for_a_while_is_repeated_at_once() {
        let start = Instant::now();
        let mut backoff = ReplacementBackoff::default();
        for round in 0..5 {
            let now = start + SECOND * (round * 15);
            assert_eq!(backoff.advise(now), ReplacementAdvice::Replace);
            backoff.recover(now + SECOND * 11);
        }
    }

    #[test]
    fn a_replacement_that_helped_for_a_moment_did_not_help() {
        let start = Instant::now();
        let mut backoff = ReplacementBackoff::default();
        assert_eq!(backoff.advise(start), ReplacementAdvice::Replace);
        backoff.recover(start + SECOND);
        assert_eq!(backoff.advise(start + SECOND * 2), ReplacementAdvice::Warn);
    }
}
