use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

/// The least number of requests in a window: the waits of fewer requests say nothing about the load.
const WINDOW_REQUESTS: u32 = 16;
/// A wait of this many times `queue_delay` (1.5 s by default) is an overload, even if no more requests arrive than
/// begin. With shorter waits, clients that each wait for a response before their next request are all served in order.
const LONG_WAIT: u32 = 3;
/// In an overload, a request is refused after this many times `queue_delay`: 8 s by default. A refusal at once would
/// cost the client nothing: a client that then asks again at once would send requests without end, and its request
/// would always be the newest, which is served first.
const LATE: u32 = 16;
/// The seconds that a refused client may be asked to wait.
const RETRY_AFTER_SECONDS: RangeInclusive<u64> = 1..=30;

/// Tells an overload from a burst, as controlled delay (RFC 8289) does: by the least wait of all requests that begin in
/// a window. It is an overload if every request of the window waits for longer than the target, and clearly more
/// requests arrive than begin.
#[derive(Debug, Default)]
pub(crate) struct ControlledDelay {
    /// `None` while no request waits.
    window: Option<LoadWindow>,
    overload: Option<Overload>,
}

#[derive(Debug)]
struct LoadWindow {
    since: Instant,
    arrived: u32,
    begun: u32,
    /// Requests that were refused. Their clients may have asked again.
    refused: u32,
    least_wait: Duration,
}

/// A time in which more requests arrive than the application serves. It ends when no request waits, or when the waiting
/// requests would soon be served in order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Overload {
    since: Instant,
    /// How long a request waits before it is refused.
    pub(crate) max_wait: Duration,
}

impl Overload {
    /// The seconds after which a client should ask again: as long as the overload has lasted, from 1 to 30.
    pub(crate) fn retry_after(self, now: Instant) -> u8 {
        let lasted = now.saturating_duration_since(self.since).as_secs();
        let seconds = lasted.clamp(*RETRY_AFTER_SECONDS.start(), *RETRY_AFTER_SECONDS.end());
        u8::try_from(seconds).expect("at most 30")
    }
}

impl ControlledDelay {
    /// A request has to wait.
    pub(crate) fn arrived(&mut self, now: Instant) {
        self.window(now).arrived += 1;
    }

    /// A request was refused because of the overload.
    pub(crate) fn refused(&mut self, now: Instant) {
        self.window(now).refused += 1;
    }

    /// A request began after `wait`, and `waiting` others still wait.
    pub(crate) fn begun(&mut self, wait: Duration, waiting: usize, target: Duration, now: Instant) {
        let overload = self.overload;
        let window = self.window(now);
        window.begun += 1;
        window.least_wait = window.least_wait.min(wait);
        let lasted = now.saturating_duration_since(window.since);
        if lasted < target || window.begun < WINDOW_REQUESTS {
            return;
        }
        // A slow application has long waits even with few requests. That is no overload, so the target is at least the
        // time in which 16 requests begin.
        let target = target.max(lasted * WINDOW_REQUESTS / window.begun);
        let is_over = match overload {
            None => window.is_over(target),
            Some(_) => !window.is_past(waiting, lasted, target),
        };
        let since = overload.map_or(window.since, |overload| overload.since);
        let max_wait = target * LATE;
        self.overload = is_over.then_some(Overload { since, max_wait });
        self.window = Some(LoadWindow::new(now));
    }

    /// Forgets the window and the overload: no request waits, or the waiting requests were held.
    pub(crate) fn reset(&mut self) {
        self.window = None;
        self.overload = None;
    }

    pub(crate) fn overload(&self) -> Option<Overload> {
        self.overload
    }

    fn window(&mut self, now: Instant) -> &mut LoadWindow {
        self.window.get_or_insert_with(|| LoadWindow::new(now))
    }
}

impl LoadWindow {
    fn new(since: Instant) -> LoadWindow {
        LoadWindow {
            since,
            arrived: 0,
            begun: 0,
            refused: 0,
            least_wait: Duration::MAX,
        }
    }

    /// Whether an overload begins: an eighth more requests arrive than begin, or waits are long anyway.
    fn is_over(&self, target: Duration) -> bool {
        let grows = u64::from(self.arrived) * 8 > u64::from(self.begun) * 9;
        self.least_wait > target && (grows || self.least_wait > target * LONG_WAIT)
    }

    /// Whether an overload is over although requests wait: if no more requests arrive than begin or are refused, and a
    /// request that is served in order of arrival would not wait for long.
    fn is_past(&self, waiting: usize, lasted: Duration, target: Duration) -> bool {
        let waiting = u32::try_from(waiting).unwrap_or(u32::MAX);
        let wait = lasted.saturating_mul(waiting) / self.begun.max(1);
        self.refused > 0
            && self.arrived <= self.begun.saturating_add(self.refused)
            && wait <= target * LONG_WAIT
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    const TARGET: Duration = Duration::from_millis(500);
    const PATIENCE: Duration = Duration::from_secs(2);

    /// Requests that arrive and begin at even rates, and clients that leave after [`PATIENCE`].
    struct Load {
        delay: ControlledDelay,
        start: Instant,
        waiting: VecDeque<Instant>,
        good: u32,
        /// Arrivals amid an overload.
        overloads: u32,
    }

    impl Load {
        fn new() -> Load {
            Load {
                delay: ControlledDelay::default(),
                start: Instant::now(),
                waiting: VecDeque::new(),
                good: 0,
                overloads: 0,
            }
        }

        /// Runs for `seconds`; returns how many requests have begun in time.
        fn run(&mut self, offered: u32, capacity: u32, seconds: u32) -> u32 {
            let (before, from) = (self.good, self.start);
            let mut arrivals =
                (0..offered * seconds).map(|at| from + Duration::from_secs(1) * at / offered);
            let mut next = arrivals.next();
            for turn in 0..capacity * seconds {
                let now = from + Duration::from_secs(1) * turn / capacity;
                while let Some(at) = next.filter(|at| *at <= now) {
                    self.arrive(at);
                    next = arrivals.next();
                }
                self.begin(now);
            }
            self.start = from + Duration::from_secs(1) * seconds;
            self.good - before
        }

        fn arrive(&mut self, now: Instant) {
            self.waiting.push_back(now);
            self.delay.arrived(now);
            self.overloads += u32::from(self.delay.overload().is_some());
        }

        fn begin(&mut self, now: Instant) {
            self.waiting.retain(|at| *at + PATIENCE > now);
            let next = match self.delay.overload() {
                Some(_) => self.waiting.pop_back(),
                None => self.waiting.pop_front(),
            };
            if let Some(at) = next {
                self.good += u32::from(now < at + PATIENCE * 9 / 10);
                self.delay.begun(now - at, self.waiting.len(), TARGET, now);
            }
            if self.waiting.is_empty() {
                self.delay.reset();
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn nearly_all_the_capacity_serves_clients_that_still_wait(
            capacity in 20_u32..500, percent in 120_u32..800,
        ) {
            let mut load = Load::new();
            let good = load.run(capacity * percent / 100, capacity, 20);
            prop_assert!(good >= capacity * 20 * 9 / 10, "{good}");
        }

        #[test]
        fn no_overload_is_seen_below_the_capacity(
            capacity in 20_u32..500, percent in 10_u32..98, burst_percent in 0_u32..130,
        ) {
            let mut load = Load::new();
            for _ in 0..capacity * burst_percent / 100 {
                load.arrive(load.start);
            }
            load.run(capacity * percent / 100, capacity, 20);
            prop_assert_eq!(load.overloads, 0);
        }
    }

    #[test]
    fn a_slow_application_with_a_short_queue_is_not_overloaded() {
        let mut load = Load::new();
        load.run(3, 2, 10);
        assert_eq!(load.overloads, 0);
    }

    #[test]
    fn requests_of_a_long_window_are_counted_without_an_overflow() {
        let window = LoadWindow {
            arrived: u32::MAX,
            begun: u32::MAX / 2,
            least_wait: TARGET * 2,
            ..LoadWindow::new(Instant::now())
        };
        assert!(window.is_over(TARGET) && !window.is_past(0, TARGET, TARGET));
    }

    #[test]
    fn an_overload_ends_when_no_request_waits() {
        let mut load = Load::new();
        load.run(400, 200, 10);
        assert!(load.delay.overload().is_some() && load.overloads > 0);
        load.run(100, 200, 2);
        assert!(load.delay.overload().is_none());
    }

    #[test]
    fn clients_return_later_the_longer_the_overload_lasts() {
        let since = Instant::now();
        let overload = Overload {
            since,
            max_wait: PATIENCE,
        };
        let seconds =
            [0, 5, 90].map(|after| overload.retry_after(since + Duration::from_secs(after)));
        assert_eq!(seconds, [1, 5, 30]);
    }
}
