use std::cell::Cell;
use std::time::Duration;

/// How long requests waited for a lane since the last call of `take`.
#[derive(Debug, Default)]
pub(crate) struct QueueTime {
    total: Cell<Duration>,
    count: Cell<u32>,
}

impl QueueTime {
    /// A request waited this long for a lane.
    pub(crate) fn note(&self, wait: Duration) {
        self.total.set(self.total.get() + wait);
        self.count.set(self.count.get().saturating_add(1));
    }

    /// The mean wait since the last call. If no request got a lane, `front` is returned: how long the first request in
    /// the queue has waited.
    pub(crate) fn take(&self, front: Option<Duration>) -> Duration {
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
    fn it_is_the_mean_over_requests_that_got_a_lane() {
        let time = QueueTime::default();
        for wait in [0, 10, 20] {
            time.note(ms(wait));
        }
        assert_eq!(time.take(Some(ms(500))), ms(10));
    }

    #[test]
    fn without_any_the_first_in_the_queue_counts() {
        let time = QueueTime::default();
        time.note(ms(10));
        time.take(None);
        assert_eq!(time.take(Some(ms(500))), ms(500));
        assert_eq!(time.take(None), Duration::ZERO);
    }
}
