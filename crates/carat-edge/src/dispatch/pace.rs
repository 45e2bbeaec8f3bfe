//! How many requests a lane may hold: a function of numbers.

use std::time::Duration;

/// Longest expected wait of a request that is prefetched to a lane of capacity 1.
pub(super) const PREFETCH_WAIT: Duration = Duration::from_millis(1);
/// Most requests in a lane, however fast the application is.
const PREFETCH_LIMIT: usize = 128;
/// The weight of the newest time in the moving average: a slow request has an effect for a while.
const WEIGHT: f64 = 1.0 / 16.0;

/// The moving average of the time that the application takes on one lane.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pace {
    average: Option<f64>,
}

impl Pace {
    /// Records the time of one reply.
    pub(crate) fn note(&mut self, app_time: Duration) {
        let seconds = app_time.as_secs_f64();
        self.average = Some(match self.average {
            None => seconds,
            Some(average) => average + (seconds - average) * WEIGHT,
        });
    }

    /// Whether a lane that holds `held` requests takes another one. `running` is how long it has had
    /// the oldest.
    pub(crate) fn has_room(&self, capacity: usize, held: usize, running: Duration) -> bool {
        if held < capacity {
            return true;
        }
        let Some(average) = self
            .average
            .filter(|_| capacity == 1 && held < PREFETCH_LIMIT)
        else {
            return false;
        };
        let expected = average * f64::from(u32::try_from(held).expect("held is small"));
        expected < PREFETCH_WAIT.as_secs_f64() && running < PREFETCH_WAIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace_of(micros: u64) -> Pace {
        let mut pace = Pace::default();
        pace.note(Duration::from_micros(micros));
        pace
    }

    #[test]
    fn a_lane_that_has_answered_nothing_yet_is_kept_one_request() {
        assert!(Pace::default().has_room(1, 0, Duration::ZERO));
        assert!(!Pace::default().has_room(1, 1, Duration::ZERO));
    }

    #[test]
    fn a_quick_application_is_kept_ahead_within_a_millisecond() {
        assert!(pace_of(10).has_room(1, 99, Duration::ZERO));
        assert!(!pace_of(10).has_room(1, 101, Duration::ZERO));
        assert!(!pace_of(1).has_room(1, PREFETCH_LIMIT, Duration::ZERO));
    }

    #[test]
    fn a_slow_application_sees_no_prefetch() {
        assert!(!pace_of(1_000).has_room(1, 1, Duration::ZERO));
    }

    #[test]
    fn a_lane_whose_front_request_is_slow_gets_no_more() {
        assert!(!pace_of(10).has_room(1, 1, Duration::from_millis(2)));
    }

    #[test]
    fn one_slow_request_ends_the_prefetch_for_a_while() {
        let mut pace = pace_of(10);
        pace.note(Duration::from_millis(100));
        assert!(!pace.has_room(1, 1, Duration::ZERO));
    }

    #[test]
    fn a_lane_of_many_never_holds_more_than_its_capacity() {
        assert!(pace_of(1).has_room(256, 255, Duration::ZERO));
        assert!(!pace_of(1).has_room(256, 256, Duration::ZERO));
    }
}
