use std::time::Duration;

/// Each power of two has this many buckets, so a quantile is exact to 6 %.
const STEPS: usize = 16;

/// The bits of `STEPS`.
const STEP_BITS: u32 = STEPS.trailing_zeros();

/// A duration is counted in microseconds, of at most 32 bits: more than an hour.
const BUCKETS: usize = (32 - STEP_BITS as usize + 1) * STEPS;

/// Counts durations in a fixed number of buckets.
#[derive(Debug, Clone)]
pub struct LatencyHistogram {
    counts: Box<[u32; BUCKETS]>,
    total: u64,
}

impl Default for LatencyHistogram {
    fn default() -> LatencyHistogram {
        LatencyHistogram {
            counts: Box::new([0; BUCKETS]),
            total: 0,
        }
    }
}

impl LatencyHistogram {
    /// Counts a duration.
    pub fn add(&mut self, duration: Duration) {
        self.count(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX));
    }

    /// Counts a number as if it were that of microseconds.
    pub(super) fn count(&mut self, number: u64) {
        let count = &mut self.counts[bucket(number)];
        *count = count.saturating_add(1);
        self.total += 1;
    }

    /// How many durations were counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The counts of all buckets, from the shortest durations to the longest.
    pub(super) fn counts(&self) -> &[u32] {
        &*self.counts
    }

    /// The duration that this share (0 to 1) of all does not exceed; `None` without any.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        self.number(share).map(Duration::from_micros)
    }

    /// The number that half of all do not exceed.
    pub(super) fn middle(&self) -> Option<u64> {
        self.number(0.5)
    }

    fn number(&self, share: f64) -> Option<u64> {
        let sum: u64 = self.counts.iter().map(|count| u64::from(*count)).sum();
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rank of many, from 1 on"
        )]
        let rank = ((sum as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let index = self.counts.iter().position(|count| {
            seen += u64::from(*count);
            seen >= rank
        });
        index.map(upper_bound)
    }
}

fn bucket(number: u64) -> usize {
    let micros = u32::try_from(number).unwrap_or(u32::MAX);
    let exponent = micros.checked_ilog2().unwrap_or(0);
    let shift = exponent.saturating_sub(STEP_BITS);
    let step = micros >> shift;
    shift as usize * STEPS + step as usize
}

fn upper_bound(bucket: usize) -> u64 {
    let shift = (bucket / STEPS).saturating_sub(1);
    let step = bucket - shift * STEPS;
    let next = (step as u64 + 1) << shift;
    next - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(duration: Option<Duration>) -> u128 {
        duration.expect("counted").as_micros()
    }

    #[test]
    fn a_quantile_is_exact_to_six_percent() {
        for value in (0..200_u32).chain((1..32).map(|bits| (1 << bits) + 7)) {
            let mut histogram = LatencyHistogram::default();
            histogram.add(Duration::from_micros(value.into()));
            let found = micros(histogram.quantile(0.5));
            let most = u128::from(value) + u128::from(value) / 16;
            assert!((value.into()..=most).contains(&found), "{value}: {found}");
        }
    }

    #[test]
    fn the_quantiles_of_many_are_in_their_order() {
        let mut histogram = LatencyHistogram::default();
        for millisecond in 1..=100 {
            histogram.add(Duration::from_millis(millisecond));
        }
        let [median, late] = [0.5, 0.99].map(|share| micros(histogram.quantile(share)));
        assert!((50_000..=53_200).contains(&median), "{median}");
        assert!((99_000..=105_300).contains(&late), "{late}");
        assert_eq!(histogram.total(), 100);
    }

    #[test]
    fn the_longest_durations_share_the_last_bucket() {
        let mut histogram = LatencyHistogram::default();
        histogram.add(Duration::MAX);
        histogram.add(Duration::from_secs(4294));
        assert!(micros(histogram.quantile(1.0)) >= u128::from(u32::MAX));
        assert_eq!(LatencyHistogram::default().quantile(0.5), None);
    }
}
