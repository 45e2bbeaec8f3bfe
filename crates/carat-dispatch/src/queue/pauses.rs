use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How many pauses are remembered.
const PAUSES_LIMIT: usize = 32;

/// Times in which the whole server stood still, such as those of a frozen container. No request ran in
/// them, so they count against no timeout.
#[derive(Debug, Default)]
pub(crate) struct Pauses(RefCell<VecDeque<Pause>>);

#[derive(Debug)]
struct Pause {
    end: Instant,
    duration: Duration,
}

impl Pauses {
    /// Records a pause that has just ended.
    pub(crate) fn add(&self, end: Instant, duration: Duration) {
        let mut pauses = self.0.borrow_mut();
        if pauses.len() == PAUSES_LIMIT {
            pauses.pop_front();
        }
        pauses.push_back(Pause { end, duration });
    }

    /// `timeout`, extended by the pauses that a request may have spent in it.
    pub(crate) fn extend(&self, timeout: Duration, now: Instant) -> Duration {
        let mut extended = timeout;
        // A pause also moves what happened before it further into the past.
        for pause in self.0.borrow().iter().rev() {
            if now.saturating_duration_since(pause.end) > extended {
                break;
            }
            extended += pause.duration;
        }
        extended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(10);

    #[test]
    fn a_pause_extends_the_timeouts_that_run_when_it_ends() {
        let pauses = Pauses::default();
        let end = Instant::now();
        assert_eq!(pauses.extend(TIMEOUT, end), TIMEOUT);
        pauses.add(end, Duration::from_secs(3600));
        let seconds = |now| pauses.extend(TIMEOUT, now).as_secs();
        assert_eq!(seconds(end + TIMEOUT), 3610);
        assert_eq!(seconds(end + TIMEOUT * 2), 10);
    }

    #[test]
    fn a_pause_counts_although_a_later_one_took_longer_than_the_timeout() {
        let pauses = Pauses::default();
        let first = Instant::now();
        pauses.add(first, Duration::from_secs(60));
        let second = first + TIMEOUT / 2 + Duration::from_secs(100);
        pauses.add(second, Duration::from_secs(100));
        let seconds = |now| pauses.extend(TIMEOUT, now).as_secs();
        assert_eq!(seconds(second + TIMEOUT / 2), 170);
        assert_eq!(seconds(second + TIMEOUT), 110);
    }

    #[test]
    fn only_so_many_pauses_are_remembered() {
        let pauses = Pauses::default();
        let end = Instant::now();
        for _ in 0..2 * PAUSES_LIMIT {
            pauses.add(end, Duration::from_secs(1));
        }
        let extended = pauses.extend(TIMEOUT, end);
        assert_eq!(extended.as_secs(), 10 + PAUSES_LIMIT as u64);
    }
}
