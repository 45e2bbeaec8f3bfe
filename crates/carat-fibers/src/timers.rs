//! The events of given times: a balanced tree, so adding, cancelling and finding the next takes O(log n), and a timer
//! that was cancelled leaves nothing behind.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::waits::WaitId;

/// The purpose of a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Purpose {
    /// A wait reaches its limit.
    Wait(WaitId),
    /// A block under a timeout takes too long.
    Timeout(u64),
}

/// All timers of a scheduler.
#[derive(Default)]
pub(crate) struct Timers(BTreeSet<(Instant, Purpose)>);

impl Timers {
    pub(crate) fn add(&mut self, at: Instant, purpose: Purpose) {
        self.0.insert((at, purpose));
    }

    /// Removes a timer, unless it has expired.
    pub(crate) fn cancel(&mut self, at: Instant, purpose: Purpose) {
        self.0.remove(&(at, purpose));
    }

    /// Takes the first timer that has expired.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<Purpose> {
        let first = self.0.first().filter(|(at, _)| *at <= now).copied()?;
        self.0.remove(&first);
        Some(first.1)
    }

    /// Time until the next timer expires; `None` without timers.
    pub(crate) fn next_in(&self, now: Instant) -> Option<Duration> {
        let (at, _) = self.0.first()?;
        Some(at.saturating_duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn timers_expire_in_the_order_of_their_times() {
        let (mut timers, start) = (Timers::default(), Instant::now());
        timers.add(start + SECOND * 2, Purpose::Timeout(2));
        timers.add(start + SECOND, Purpose::Timeout(1));
        assert_eq!(timers.next_in(start), Some(SECOND));
        assert_eq!(timers.pop(start), None);
        assert_eq!(timers.pop(start + SECOND * 2), Some(Purpose::Timeout(1)));
        assert_eq!(timers.pop(start + SECOND * 2), Some(Purpose::Timeout(2)));
        assert_eq!(timers.next_in(start), None);
    }

    #[test]
    fn two_timers_may_share_a_time_and_one_of_them_be_cancelled() {
        let (mut timers, start) = (Timers::default(), Instant::now());
        timers.add(start, Purpose::Timeout(1));
        timers.add(start, Purpose::Timeout(2));
        timers.cancel(start, Purpose::Timeout(1));
        timers.cancel(start, Purpose::Timeout(1));
        assert_eq!(timers.pop(start), Some(Purpose::Timeout(2)));
        assert_eq!(timers.pop(start), None);
    }
}
