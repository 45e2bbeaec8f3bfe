//! How soon memory is looked at again: a plain policy over plain numbers.

use std::time::Duration;

/// The longest pause.
const LONGEST: Duration = Duration::from_secs(5);
/// The shortest, which is how often the supervisor looks at anything.
const SHORTEST: Duration = Duration::from_millis(100);
/// The pause for what is beyond its limit, and has been found to be.
const JUDGED: Duration = Duration::from_secs(1);
/// What grows is looked at so many times before it is expected at its limit.
const LOOKS: u32 = 4;
/// Looking takes at most one part in so many of the time.
const SHARE: u32 = 10;

/// Something that has a limit, and comes nearer to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Approach {
    pub(crate) bytes: u64,
    /// Bytes that were added each second of late.
    pub(crate) rate: f64,
    pub(crate) limit: u64,
    /// Whether it has been above its limit for long enough to be acted upon.
    pub(crate) is_judged: bool,
}

impl Approach {
    /// How soon it should be looked at again: the sooner, the less of the limit is left, and the faster it grows.
    fn pause(&self) -> Duration {
        if self.is_judged {
            return JUDGED;
        }
        #[expect(clippy::cast_precision_loss, reason = "a share of the limit")]
        let (left, limit) = (
            self.limit.saturating_sub(self.bytes) as f64,
            self.limit as f64,
        );
        let by_distance = LONGEST.mul_f64((left / limit.max(1.0)).min(1.0));
        let expected = Duration::try_from_secs_f64(left / self.rate.max(1.0));
        let by_growth = expected.unwrap_or(LONGEST) / LOOKS;
        by_distance.min(by_growth)
    }
}

/// The pause until the next look at all of these, when the last one took `took`.
pub(crate) fn pause(approaches: impl Iterator<Item = Approach>, took: Duration) -> Duration {
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
        pause(std::iter::once(approach), Duration::ZERO).as_millis()
    }

    fn near(bytes: u64, rate: f64, limit: u64) -> Approach {
        Approach {
            bytes,
            rate,
            limit,
            is_judged: false,
        }
    }

    #[test]
    fn without_limits_memory_is_looked_at_every_five_seconds() {
        assert_eq!(pause(std::iter::empty(), Duration::ZERO), LONGEST);
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
    fn the_first_at_its_limit_decides() {
        let approaches = [near(MIB, 0.0, 10 * MIB), near(9 * MIB, 0.0, 10 * MIB)];
        let pause = pause(approaches.into_iter(), Duration::ZERO);
        assert_eq!(pause.as_millis(), 500);
    }

    #[test]
    fn what_is_known_to_be_too_much_is_not_watched_closely() {
        let known = Approach {
            is_judged: true,
            ..near(11, 0.0, 10)
        };
        assert_eq!(pause(std::iter::once(known), Duration::ZERO), JUDGED);
    }

    #[test]
    fn looking_takes_at_most_a_tenth_of_the_time() {
        let slow = Duration::from_millis(40);
        let pause = |took| pause(std::iter::once(near(10, 0.0, 10)), took);
        assert_eq!(pause(slow), Duration::from_millis(360));
        assert_eq!(pause(Duration::from_secs(60)), LONGEST);
    }
}
