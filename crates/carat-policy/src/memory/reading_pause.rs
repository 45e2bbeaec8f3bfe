//! How soon to read memory again.

use std::time::Duration;

/// The longest pause.
const LONGEST: Duration = Duration::from_secs(5);
/// The shortest pause: the supervisor's tick.
const SHORTEST: Duration = Duration::from_millis(100);
/// The pause once an amount is known to exceed its limit.
const KNOWN: Duration = Duration::from_secs(1);
/// A growing amount is read this many times before it would reach its limit.
const READINGS: u32 = 4;
/// The divisor of the time: readings take at most that part of it.
const SHARE: u32 = 10;

/// An amount of memory and its limit.
#[derive(Clone, Copy, PartialEq)]
pub struct MemoryApproach {
    /// The last reading.
    pub bytes: u64,
    /// Recent growth in bytes per second.
    pub rate: f64,
    /// The limit in bytes.
    pub limit: u64,
    /// Whether the limit has been exceeded long enough to act.
    pub is_too_much: bool,
}

impl MemoryApproach {
    /// How soon to read the amount again: sooner the less of the limit is left, and the faster the amount grows.
    fn pause(&self) -> Duration {
        if self.is_too_much {
            return KNOWN;
        }
        #[expect(clippy::cast_precision_loss, reason = "a share of the limit")]
        let (left, limit) = (
            self.limit.saturating_sub(self.bytes) as f64,
            self.limit as f64,
        );
        let by_distance = LONGEST.mul_f64((left / limit.max(1.0)).min(1.0));
        let expected = Duration::try_from_secs_f64(left / self.rate.max(1.0));
        let by_growth = expected.unwrap_or(LONGEST) / READINGS;
        by_distance.min(by_growth)
    }
}

/// The pause until the next reading of these amounts, if the last reading took `took`.
pub fn reading_pause(approaches: impl Iterator<Item = MemoryApproach>, took: Duration) -> Duration {
    let soonest = approaches.map(|approach| approach.pause()).min();
    let pause = soonest.unwrap_or(LONGEST).clamp(SHORTEST, LONGEST);
    pause.max(took * (SHARE - 1)).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn milliseconds(bytes: u64, rate: f64) -> u128 {
        let limit = 150 * MIB;
        let approach = near(bytes, rate, limit);
        reading_pause(std::iter::once(approach), Duration::ZERO).as_millis()
    }

    fn near(bytes: u64, rate: f64, limit: u64) -> MemoryApproach {
        MemoryApproach {
            bytes,
            rate,
            limit,
            is_too_much: false,
        }
    }

    #[test]
    fn without_limits_memory_is_read_every_five_seconds() {
        assert_eq!(reading_pause(std::iter::empty(), Duration::ZERO), LONGEST);
    }

    #[test]
    fn the_nearer_the_limit_the_sooner() {
        assert_eq!(milliseconds(0, 0.0), 5000);
        assert_eq!(milliseconds(75 * MIB, 0.0), 2500);
        assert_eq!(milliseconds(135 * MIB, 0.0), 500);
        assert_eq!(milliseconds(149 * MIB, 0.0), 100);
        assert_eq!(milliseconds(200 * MIB, 0.0), 100);
    }

    #[test]
    fn the_faster_it_grows_the_sooner() {
        #[expect(clippy::cast_precision_loss, reason = "a round number")]
        let rate = (10 * MIB) as f64;
        assert_eq!(milliseconds(50 * MIB, rate), 2500);
        assert_eq!(milliseconds(130 * MIB, rate), 500);
        assert_eq!(milliseconds(140 * MIB, rate), 250);
        assert_eq!(milliseconds(149 * MIB, rate), 100);
    }

    #[test]
    fn the_amount_closest_to_its_limit_decides() {
        let approaches = [near(MIB, 0.0, 10 * MIB), near(9 * MIB, 0.0, 10 * MIB)];
        let pause = reading_pause(approaches.into_iter(), Duration::ZERO);
        assert_eq!(pause.as_millis(), 500);
    }

    #[test]
    fn an_amount_known_to_be_too_large_is_read_once_a_second() {
        let known = MemoryApproach {
            is_too_much: true,
            ..near(11, 0.0, 10)
        };
        assert_eq!(reading_pause(std::iter::once(known), Duration::ZERO), KNOWN);
    }

    #[test]
    fn reading_takes_at_most_a_tenth_of_the_time() {
        let slow = Duration::from_millis(40);
        let pause = |took| reading_pause(std::iter::once(near(10, 0.0, 10)), took);
        assert_eq!(pause(slow), Duration::from_millis(360));
        assert_eq!(pause(Duration::from_secs(60)), LONGEST);
    }
}
