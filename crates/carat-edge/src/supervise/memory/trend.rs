//! How an amount of memory changes: plain numbers and times.

use std::time::Instant;

use super::pace::Approach;

/// So many samples in a row above a limit are no accident.
const SAMPLES: u32 = 3;

/// An amount of memory that is looked at again and again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Trend {
    pub(crate) bytes: u64,
    /// Bytes that were added each second between the last two samples.
    rate: f64,
    at: Instant,
    /// Samples in a row above the limit.
    above: u32,
    /// Whether the first sample was.
    began_above: bool,
}

impl Trend {
    /// The trend that `before` is after one more sample.
    pub(crate) fn after(before: Option<Trend>, bytes: u64, limit: u64, at: Instant) -> Trend {
        let is_above = bytes > limit;
        let above = before.map_or(0, |before| before.above);
        Trend {
            bytes,
            rate: before.map_or(0.0, |before| before.rate_to(bytes, at)),
            at,
            above: if is_above { above + 1 } else { 0 },
            began_above: before.map_or(is_above, |before| before.began_above),
        }
    }

    /// Whether something has to be done about it.
    pub(crate) fn is_too_much(&self) -> bool {
        self.above >= SAMPLES
    }

    /// Whether it has never been within its limit, so that the next one will not be either.
    pub(crate) fn began_too_much(&self) -> bool {
        self.began_above
    }

    /// The same after something was done about it: it takes as many samples again to be too much.
    pub(crate) fn forgiven(self) -> Trend {
        Trend { above: 0, ..self }
    }

    /// How it comes nearer to the limit.
    pub(crate) fn approach(&self, limit: u64) -> Approach {
        Approach {
            bytes: self.bytes,
            rate: self.rate,
            limit,
            is_judged: self.is_too_much(),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate of bytes")]
    fn rate_to(&self, bytes: u64, at: Instant) -> f64 {
        let seconds = at.saturating_duration_since(self.at).as_secs_f64();
        bytes.saturating_sub(self.bytes) as f64 / seconds.max(0.001)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The trend of samples that are a second apart, with a limit of 100.
    fn trend(samples: &[u64]) -> Trend {
        let start = Instant::now();
        let times = (0..).map(|second| start + Duration::from_secs(second));
        let trend = samples
            .iter()
            .zip(times)
            .fold(None, |before, (&bytes, at)| {
                Some(Trend::after(before, bytes, 100, at))
            });
        trend.expect("a sample")
    }

    #[test]
    fn three_samples_in_a_row_above_the_limit_are_too_much() {
        assert!(!trend(&[50, 101, 102]).is_too_much());
        assert!(trend(&[50, 101, 102, 103]).is_too_much());
        assert!(trend(&[50, 101, 102, 103, 104]).is_too_much());
    }

    #[test]
    fn one_sample_within_the_limit_begins_anew() {
        assert!(!trend(&[101, 102, 100, 101, 102]).is_too_much());
        assert!(!trend(&[101, 102, 103, 100]).is_too_much());
    }

    #[test]
    fn what_was_acted_upon_is_judged_anew() {
        let later = Instant::now() + Duration::from_secs(9);
        let forgiven = trend(&[101, 102, 103]).forgiven();
        assert!(!forgiven.is_too_much());
        assert!(!Trend::after(Some(forgiven), 104, 100, later).is_too_much());
    }

    #[test]
    fn what_begins_above_its_limit_is_told_from_what_grew() {
        assert!(trend(&[101, 102, 103]).began_too_much());
        assert!(!trend(&[99, 102, 103]).began_too_much());
    }

    #[test]
    fn the_rate_is_that_between_the_last_two_samples() {
        let rate = |samples: &[u64]| trend(samples).approach(100).rate;
        assert!(rate(&[7]).abs() < f64::EPSILON);
        assert!((rate(&[7, 10, 50]) - 40.0).abs() < 0.1);
        assert!(
            rate(&[50, 10]).abs() < f64::EPSILON,
            "what shrinks is not negative"
        );
    }
}
