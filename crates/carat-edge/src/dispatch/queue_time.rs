use std::cell::Cell;
use std::time::Duration;

/// How long requests have waited for a lane since somebody asked last.
#[derive(Debug, Default)]
pub(super) struct QueueTime {
    total: Cell<Duration>,
    count: Cell<u32>,
}

impl QueueTime {
    /// A request has found a lane after `wait`.
    pub(super) fn note(&self, wait: Duration) {
        self.total.set(self.total.get() + wait);
        self.count.set(self.count.get().saturating_add(1));
    }

    /// The mean since the last call; where no request has found a lane, how long the one at the `front` of the
    /// queue has waited.
    pub(super) fn take(&self, front: Option<Duration>) -> Duration {
        let (total, count) = (self.total.take(), self.count.take());
        if count == 0 {
            return front.unwrap_or_default();
        }
        total / count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn it_is_the_mean_of_those_that_have_found_a_lane() {
        let time = QueueTime::default();
        for wait in [0, 10, 20] {
            time.note(ms(wait));
        }
        assert_eq!(time.take(Some(ms(500))), ms(10));
    }

    #[test]
    fn where_none_has_found_a_lane_the_first_that_waits_counts() {
        let time = QueueTime::default();
        time.note(ms(10));
        time.take(None);
        assert_eq!(time.take(Some(ms(500))), ms(500));
        assert_eq!(time.take(None), Duration::ZERO);
    }
}
