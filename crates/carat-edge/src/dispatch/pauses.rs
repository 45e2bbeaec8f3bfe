use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How many pauses are remembered.
const PAUSES_LIMIT: usize = 32;

/// Times in which the whole server stood still, such as those of a frozen container. No request ran in
/// them, so they count against no timeout.
#[derive(Debug, Default)]
pub(super) struct Pauses(RefCell<VecDeque<Pause>>);

#[derive(Debug)]
struct Pause {
    end: Instant,
    duration: Duration,
}

impl Pauses {
    /// Records a pause that has just ended.
    pub(super) fn add(&self, end: Instant, duration: Duration) {
        let mut pauses = self.0.borrow_mut();
        if pauses.len() == PAUSES_LIMIT {
            pauses.pop_front();
        }
        pauses.push_back(Pause { end, duration });
    }

    /// The timeout together with the pauses that a request which began before them may have spent in it.
    pub(super) fn extend(&self, timeout: Duration, now: Instant) -> Duration {
        let pauses = self.0.borrow();
        let counts = |pause: &&Pause| now.saturating_duration_since(pause.end) <= timeout;
        let lost = pauses.iter().filter(counts).map(|pause| pause.duration);
        timeout + lost.sum()
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
        pauses.add(end + TIMEOUT, Duration::from_secs(60));
        let seconds = |now| pauses.extend(TIMEOUT, now).as_secs();
        assert_eq!(seconds(end + TIMEOUT), 3670);
        assert_eq!(seconds(end + TIMEOUT * 2), 70);
        assert_eq!(seconds(end + TIMEOUT * 3), 10);
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
