use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The most excluded times that are remembered.
const EXCLUDED_TIMES_LIMIT: usize = 32;

/// The times that count against no timeout, because no request could begin or run: holds, or times in which the
/// container was frozen.
#[derive(Debug, Default)]
pub(crate) struct ExcludedTimes(RefCell<VecDeque<ExcludedTime>>);

#[derive(Debug)]
struct ExcludedTime {
    end: Instant,
    duration: Duration,
}

impl ExcludedTimes {
    /// Records a time that has just ended.
    pub(crate) fn add(&self, end: Instant, duration: Duration) {
        let mut times = self.0.borrow_mut();
        if times.len() == EXCLUDED_TIMES_LIMIT {
            times.pop_front();
        }
        times.push_back(ExcludedTime { end, duration });
    }

    /// `timeout`, extended by the excluded times that a request may have lived through.
    pub(crate) fn extend(&self, timeout: Duration, now: Instant) -> Duration {
        let mut extended = timeout;
        // An excluded time also extends how far back earlier excluded times matter.
        for past in self.0.borrow().iter().rev() {
            if now.saturating_duration_since(past.end) > extended {
                break;
            }
            extended += past.duration;
        }
        extended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(10);

    #[test]
    fn an_excluded_time_extends_the_timeouts_that_run_when_it_ends() {
        let times = ExcludedTimes::default();
        let end = Instant::now();
        assert_eq!(times.extend(TIMEOUT, end), TIMEOUT);
        times.add(end, Duration::from_secs(3600));
        let seconds = |now| times.extend(TIMEOUT, now).as_secs();
        assert_eq!(seconds(end + TIMEOUT), 3610);
        assert_eq!(seconds(end + TIMEOUT * 2), 10);
    }

    #[test]
    fn an_excluded_time_counts_although_a_later_one_took_longer_than_the_timeout() {
        let times = ExcludedTimes::default();
        let first = Instant::now();
        times.add(first, Duration::from_secs(60));
        let second = first + TIMEOUT / 2 + Duration::from_secs(100);
        times.add(second, Duration::from_secs(100));
        let seconds = |now| times.extend(TIMEOUT, now).as_secs();
        assert_eq!(seconds(second + TIMEOUT / 2), 170);
        assert_eq!(seconds(second + TIMEOUT), 110);
    }

    #[test]
    fn only_so_many_are_remembered() {
        let times = ExcludedTimes::default();
        let end = Instant::now();
        for _ in 0..2 * EXCLUDED_TIMES_LIMIT {
            times.add(end, Duration::from_secs(1));
        }
        let extended = times.extend(TIMEOUT, end);
        assert_eq!(extended.as_secs(), 10 + EXCLUDED_TIMES_LIMIT as u64);
    }
}
