//! How many requests a lane may hold: a function of numbers.

use std::time::Duration;

/// The longest expected wait of a request that is prefetched to a lane of capacity 1.
pub(crate) const PREFETCH_WAIT: Duration = Duration::from_millis(1);
/// The longest expected wait of a request that is sent to a busy lane although another lane is idle. Waking the worker
/// of the idle lane would cost about as much CPU time, and hardly shorten the wait.
const WAKE_TIME: Duration = Duration::from_micros(100);
/// The most requests in a lane, however fast the application is.
const PREFETCH_LIMIT: usize = 128;
/// The weight of the newest time in the moving average. It is small, so that a slow request keeps requests away for a
/// while.
const WEIGHT: f64 = 1.0 / 16.0;

/// How far requests may exceed `WAKE_TIME` on average while requests are gathered in a lane: about the CPU time that
/// waking another worker takes.
const EXCESS_LIMIT: Duration = Duration::from_micros(10);
/// The weight of the newest time in the average of the excess. After a reply of 5 ms, no request is gathered in the
/// lane for 170 quick replies; a garbage collection of 1 ms has no such effect.
const EXCESS_WEIGHT: f64 = 1.0 / 128.0;

/// The time that the application takes on one lane.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ServiceTime {
    /// The moving average, in seconds.
    average: Option<f64>,
    /// The moving average of the time beyond `WAKE_TIME`, in seconds.
    excess: f64,
}

impl ServiceTime {
    /// Records the time of one reply.
    pub(crate) fn note(&mut self, app_time: Duration) {
        let seconds = app_time.as_secs_f64();
        self.average = Some(match self.average {
            None => seconds,
            Some(average) => average + (seconds - average) * WEIGHT,
        });
        let beyond = app_time.saturating_sub(WAKE_TIME).as_secs_f64();
        self.excess += (beyond - self.excess) * EXCESS_WEIGHT;
    }

    /// Whether a lane that holds `held` requests takes another one. `running` is how long the worker has had the oldest
    /// request.
    pub(crate) fn has_room(&self, capacity: usize, held: usize, running: Duration) -> bool {
        held < capacity || (capacity == 1 && self.begins_within(PREFETCH_WAIT, held, running))
    }

    /// Whether a busy lane takes another request although an idle lane would begin it at once. False if many requests
    /// are slow: the requests behind them would wait until they are recalled.
    pub(crate) fn gathers(&self, capacity: usize, held: usize, running: Duration) -> bool {
        capacity == 1
            && held > 0
            && self.excess < EXCESS_LIMIT.as_secs_f64()
            && self.begins_within(WAKE_TIME, held, running)
    }

    /// Whether a request behind `held` others is expected to wait for less than `limit`.
    fn begins_within(&self, limit: Duration, held: usize, running: Duration) -> bool {
        let Some(average) = self.average.filter(|_| held < PREFETCH_LIMIT) else {
            return false;
        };
        let expected = average * f64::from(u32::try_from(held).expect("held is small"));
        expected < limit.as_secs_f64() && running < limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service_time_of(micros: u64) -> ServiceTime {
        let mut service_time = ServiceTime::default();
        service_time.note(Duration::from_micros(micros));
        service_time
    }

    #[test]
    fn a_lane_has_room_for_what_it_begins_within_a_millisecond() {
        let slow_front = Duration::from_millis(2);
        for (is_so, micros, capacity, load, front, what) in [
            (true, None, 1, 0, Duration::ZERO, "one request at first"),
            (false, None, 1, 1, Duration::ZERO, "one request at first"),
            (true, Some(10), 1, 99, Duration::ZERO, "quick"),
            (false, Some(10), 1, 101, Duration::ZERO, "quick"),
            (false, Some(1), 1, PREFETCH_LIMIT, Duration::ZERO, "quick"),
            (false, Some(1_000), 1, 1, Duration::ZERO, "slow"),
            (false, Some(10), 1, 1, slow_front, "its front is slow"),
            (true, Some(1), 256, 255, Duration::ZERO, "its capacity"),
            (false, Some(1), 256, 256, Duration::ZERO, "its capacity"),
        ] {
            let time = micros.map_or_else(ServiceTime::default, service_time_of);
            assert_eq!(time.has_room(capacity, load, front), is_so, "{what}");
        }
    }

    #[test]
    fn one_slow_request_ends_the_prefetch_for_a_while() {
        let mut service_time = service_time_of(10);
        service_time.note(Duration::from_millis(100));
        assert!(!service_time.has_room(1, 1, Duration::ZERO));
    }

    #[test]
    fn a_lane_gathers_only_what_it_begins_sooner_than_another_wakes() {
        let (quick, pause) = (service_time_of(10), WAKE_TIME);
        assert!(quick.gathers(1, 9, Duration::ZERO) && !quick.gathers(1, 10, Duration::ZERO));
        assert!(!quick.gathers(1, 0, Duration::ZERO), "it is idle itself");
        assert!(!quick.gathers(1, 1, pause), "its worker does not run");
        assert!(!quick.gathers(256, 1, Duration::ZERO));
        assert!(!service_time_of(100).gathers(1, 1, Duration::ZERO));
        assert!(!ServiceTime::default().gathers(1, 1, Duration::ZERO));
    }

    /// Whether a lane gathers after each of 2000 replies, of which one in `every` is slow.
    fn gathers_with(slow: Duration, every: usize) -> (ServiceTime, Vec<bool>) {
        let mut service_time = service_time_of(10);
        let gathers = (1..=2000).map(|number| {
            let is_slow = number % every == 0;
            service_time.note(if is_slow {
                slow
            } else {
                Duration::from_micros(10)
            });
            service_time.gathers(1, 1, Duration::ZERO)
        });
        let gathers = gathers.collect();
        (service_time, gathers)
    }

    #[test]
    fn a_lane_gathers_nothing_while_one_of_a_hundred_requests_is_slow() {
        let (mut service_time, gathers) = gathers_with(Duration::from_millis(5), 100);
        assert_eq!(gathers.iter().filter(|&&gathers| gathers).count(), 99);
        for _ in 0..300 {
            service_time.note(Duration::from_micros(10));
        }
        assert!(service_time.gathers(1, 1, Duration::ZERO));
    }

    #[test]
    fn a_lane_gathers_in_spite_of_garbage_collections() {
        let (_, gathers) = gathers_with(Duration::from_millis(1), 600);
        assert!(gathers.iter().all(|&gathers| gathers));
    }
}
