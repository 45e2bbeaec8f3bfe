use std::time::{Duration, Instant};

use carat_exchange::ReadProgress;

/// How far a client may fall behind its rate, as the time that the missing bytes take at that rate.
const GRACE: Duration = Duration::from_secs(10);
/// How often the rate is checked.
const CHECK: Duration = Duration::from_secs(1);

/// How many bytes a client can be ahead of its rate. The kernel accepts bytes and empties its buffers in
/// steps of up to 160 KiB on a Unix socket; between two steps a steady client seems to read nothing.
const CREDIT_LIMIT: u64 = 256 * 1024;

/// Decides when a client that does not read its response has had enough time.
///
/// Only time in which bytes wait for the client counts. It counts against `timeout` since the client last read
/// something, and against its rate, where each byte read makes up for some time. So a client may pause if it reads
/// faster before or after, and a slow application does not count against its client. The streams of a connection share
/// its rate, but each has its own timeout.
pub(crate) struct SlowReader {
    timeout: Duration,
    /// Bytes per second; 0 for none.
    min_rate: u64,
    /// Bytes written by the last check.
    written: ReadProgress,
    /// When the client last read something, or bytes began to wait for it.
    moved: Instant,
    /// The time until which waiting has been counted; `None` while nothing waits.
    counted: Option<Instant>,
    /// How far the client is behind its rate in microseconds; negative when it is ahead.
    behind: i64,
}

impl SlowReader {
    /// A client that was sent nothing; `min_rate` in bytes per second, 0 for none.
    pub(crate) fn new(timeout: Duration, min_rate: u64, now: Instant) -> SlowReader {
        SlowReader {
            timeout,
            min_rate,
            written: ReadProgress {
                stream: 0,
                connection: 0,
            },
            moved: now,
            counted: None,
            behind: 0,
        }
    }

    /// Notes that bytes begin to wait for the client, which has taken `written` so far. Returns when to check again, or
    /// `None` if the client has had enough time: a fast client may block more often than checks happen.
    pub(crate) fn begin(&mut self, now: Instant, written: ReadProgress) -> Option<Duration> {
        self.end(now, written);
        self.counted = Some(now);
        self.moved = now;
        self.look(now, written)
    }

    /// Notes that no bytes wait for the client any more.
    pub(crate) fn end(&mut self, now: Instant, written: ReadProgress) {
        self.settle(now, written);
        self.counted = None;
    }

    /// Returns when to check again, or `None` when the client has had enough time.
    pub(crate) fn look(&mut self, now: Instant, written: ReadProgress) -> Option<Duration> {
        self.settle(now, written);
        let is_stuck = now.saturating_duration_since(self.moved) >= self.timeout;
        let is_slow = self.behind > micros(GRACE);
        let left = (self.moved + self.timeout).saturating_duration_since(now);
        (!is_stuck && !is_slow).then(|| CHECK.min(left))
    }

    /// Accounts for the time and the bytes since the last check.
    fn settle(&mut self, now: Instant, written: ReadProgress) {
        if let Some(counted) = &mut self.counted {
            if self.min_rate > 0 {
                let waited = micros(now.saturating_duration_since(*counted));
                self.behind = self.behind.saturating_add(waited);
            }
            *counted = now;
        }
        if written.stream > self.written.stream {
            self.moved = now;
        }
        let bytes = written.connection.saturating_sub(self.written.connection);
        self.behind = self.behind.saturating_sub(self.worth(bytes));
        self.written = written;
        self.behind = self.behind.max(-self.worth(CREDIT_LIMIT));
    }

    /// How long this many bytes may take, in microseconds.
    fn worth(&self, bytes: u64) -> i64 {
        let micros = bytes.saturating_mul(1_000_000) / self.min_rate.max(1);
        i64::try_from(micros).unwrap_or(i64::MAX)
    }
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(60);
    const RATE: u64 = 10_000;
    /// Seconds that the credit lasts.
    const CREDIT: u64 = CREDIT_LIMIT / RATE;

    /// A connection with one stream.
    fn all(written: u64) -> ReadProgress {
        ReadProgress {
            stream: written,
            connection: written,
        }
    }

    /// A client and a clock.
    struct Scene {
        reader: SlowReader,
        now: Instant,
        written: u64,
    }

    impl Scene {
        fn new(min_rate: u64) -> Scene {
            let now = Instant::now();
            Scene {
                reader: SlowReader::new(TIMEOUT, min_rate, now),
                now,
                written: 0,
            }
        }

        fn waiting(min_rate: u64) -> Scene {
            let mut scene = Scene::new(min_rate);
            scene.reader.begin(scene.now, all(0));
            scene
        }

        /// Lets seconds pass, at whose end the client takes this many bytes. Returns whether the client may stay.
        fn passes(&mut self, seconds: u64, bytes: u64) -> bool {
            for _ in 1..seconds {
                self.now += Duration::from_secs(1);
                if self.reader.look(self.now, all(self.written)).is_none() {
                    return false;
                }
            }
            self.now += Duration::from_secs(1);
            self.written += bytes;
            self.reader.look(self.now, all(self.written)).is_some()
        }

        /// The second in which the client is given up if it takes `bytes` bytes in each second.
        fn given_up_after(&mut self, bytes: u64) -> Option<u64> {
            (1..10_000).find(|_| !self.passes(1, bytes))
        }
    }

    #[test]
    fn a_client_that_takes_nothing_has_the_timeout() {
        assert_eq!(Scene::waiting(0).given_up_after(0), Some(60));
        assert_eq!(Scene::waiting(0).given_up_after(1), None);
    }

    #[test]
    fn each_byte_begins_the_timeout_anew() {
        let mut scene = Scene::waiting(0);
        assert!(scene.passes(59, 1));
        assert_eq!(scene.given_up_after(0), Some(60));
    }

    #[test]
    fn a_client_below_the_rate_is_given_up_when_it_is_ten_seconds_behind() {
        assert_eq!(Scene::waiting(RATE).given_up_after(0), Some(11));
        assert_eq!(Scene::waiting(RATE).given_up_after(RATE / 2), Some(21));
        assert_eq!(Scene::waiting(RATE).given_up_after(RATE), None);
    }

    #[test]
    fn what_was_taken_before_pays_for_a_pause_but_not_for_ever() {
        let mut scene = Scene::new(RATE);
        scene.written = 100 * CREDIT_LIMIT;
        scene.reader.begin(scene.now, all(scene.written));
        assert_eq!(scene.given_up_after(0), Some(CREDIT + 11));
    }

    #[test]
    fn a_client_that_keeps_the_rate_in_bursts_is_never_given_up() {
        let burst = 160 * 1024;
        let mut scene = Scene::waiting(RATE);
        assert!(scene.passes(1, CREDIT_LIMIT));
        assert!((0..1000).all(|_| scene.passes(burst / RATE, burst)));
    }

    #[test]
    fn time_in_which_nothing_waits_does_not_count() {
        let mut scene = Scene::waiting(RATE);
        assert!(scene.passes(9, 0));
        for _ in 0..100 {
            scene.reader.end(scene.now, all(scene.written));
            scene.now += Duration::from_secs(3600);
            scene.written += RATE;
            let pause = scene.reader.begin(scene.now, all(scene.written));
            assert_eq!(pause, Some(CHECK));
            assert!(scene.passes(1, 0));
        }
    }

    #[test]
    fn a_client_that_is_never_waited_for_long_is_given_up_too() {
        let mut scene = Scene::new(RATE);
        let mut rounds = (0..).take_while(|_| {
            scene.written += 1;
            let waits = scene.reader.begin(scene.now, all(scene.written)).is_some();
            scene.now += Duration::from_millis(10);
            scene.reader.end(scene.now, all(scene.written));
            waits
        });
        assert_eq!(rounds.by_ref().count(), 1011);
    }

    #[test]
    fn the_next_look_is_not_behind_the_timeout() {
        let now = Instant::now();
        let timeout = Duration::from_millis(300);
        let mut reader = SlowReader::new(timeout, 0, now);
        assert_eq!(reader.begin(now, all(0)), Some(timeout));
        assert_eq!(reader.look(now + timeout, all(0)), None);
    }
    #[test]
    fn streams_share_the_rate_of_their_connection_but_not_the_timeout() {
        let mut now = Instant::now();
        let mut reader = SlowReader::new(TIMEOUT, RATE, now);
        let mut written = all(0);
        assert!(reader.begin(now, written).is_some());
        for _ in 0..59 {
            now += Duration::from_secs(1);
            written.connection += RATE;
            assert!(reader.look(now, written).is_some());
        }
        now += Duration::from_secs(1);
        assert_eq!(reader.look(now, written), None);
    }
}
