//! Whether to do again what may not help: a plain policy over plain times.

use std::time::{Duration, Instant};

use crate::supervise::backoff::Backoff;

const FIRST_PAUSE: Duration = Duration::from_secs(10);
const PAUSE_LIMIT: Duration = Duration::from_secs(600);

/// Replaces a worker that weighs too much, but not over and over where each new one does as well.
#[derive(Debug)]
pub(crate) struct Remedy {
    backoff: Backoff,
    /// Whether somebody was told that it does not help.
    is_told: bool,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advice {
    Try,
    /// It was tried a short time ago and has not helped: tell somebody.
    Tell,
    /// Somebody has been told.
    Wait,
}

impl Default for Remedy {
    fn default() -> Self {
        Remedy {
            backoff: Backoff::between(FIRST_PAUSE, PAUSE_LIMIT),
            is_told: false,
        }
    }
}

impl Remedy {
    /// It would be time to try.
    pub(crate) fn advise(&mut self, now: Instant) -> Advice {
        if self.backoff.allows(now) {
            self.backoff.fail(now);
            Advice::Try
        } else if self.is_told {
            Advice::Wait
        } else {
            self.is_told = true;
            Advice::Tell
        }
    }

    /// All is well: that counts when the pause after the last attempt is over.
    pub(crate) fn rest(&mut self, now: Instant) {
        if self.backoff.allows(now) {
            self.backoff.succeed();
            self.is_told = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn what_does_not_help_is_told_once_and_tried_ever_more_seldom() {
        let start = Instant::now();
        let mut remedy = Remedy::default();
        let advice: Vec<_> = (0..100)
            .map(|second| remedy.advise(start + SECOND * second))
            .collect();
        let at = |meant| {
            let places = advice.iter().enumerate();
            let places = places.filter(|(_, found)| **found == meant);
            places.map(|(place, _)| place).collect::<Vec<_>>()
        };
        assert_eq!(at(Advice::Try), [0, 10, 30, 70]);
        assert_eq!(at(Advice::Tell), [1]);
    }

    #[test]
    fn what_has_helped_for_a_while_is_done_again_at_once() {
        let start = Instant::now();
        let mut remedy = Remedy::default();
        for round in 0..5 {
            let now = start + SECOND * (round * 15);
            assert_eq!(remedy.advise(now), Advice::Try);
            remedy.rest(now + SECOND * 11);
        }
    }

    #[test]
    fn what_has_helped_for_a_moment_has_not_helped() {
        let start = Instant::now();
        let mut remedy = Remedy::default();
        assert_eq!(remedy.advise(start), Advice::Try);
        remedy.rest(start + SECOND);
        assert_eq!(remedy.advise(start + SECOND * 2), Advice::Tell);
    }
}
