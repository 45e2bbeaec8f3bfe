use carat_http::TimeHistogram;

/// Upper bounds of the buckets, in microseconds.
const BUCKETS: [u64; TimeHistogram::SIZE - 1] = TimeHistogram::BOUNDS;
const MICROS: f64 = 1_000_000.0;

/// How many times were in each bucket.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TimeCounts([u64; TimeHistogram::SIZE]);

impl TimeCounts {
    pub(super) fn of(histogram: &TimeHistogram) -> TimeCounts {
        let mut times = TimeCounts::default();
        let both = times.0.iter_mut().zip(histogram.counts());
        both.for_each(|(count, counted)| *count = counted);
        times
    }

    /// Adds other counts.
    pub(super) fn add(&mut self, other: &TimeCounts) {
        let both = self.0.iter_mut().zip(other.0);
        both.for_each(|(count, other)| *count += other);
    }

    /// The counts since `before`.
    #[must_use]
    pub(super) fn since(&self, before: &TimeCounts) -> TimeCounts {
        let mut counts = *self;
        let both = counts.0.iter_mut().zip(before.0);
        both.for_each(|(count, before)| *count = count.saturating_sub(before));
        counts
    }

    /// The number of all times.
    pub(super) fn count(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The time in seconds that this share of all has not exceeded, computed as by
    /// `histogram_quantile` of Prometheus: times are assumed to lie evenly in a bucket. `None`
    /// without a time.
    #[expect(clippy::cast_precision_loss, reason = "a bucket's width is far more")]
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        let rank = share * self.count() as f64;
        let (mut below, mut floor) = (0.0, 0.0);
        for (count, bound) in self.0.iter().zip(BUCKETS) {
            let (count, bound) = (*count as f64, bound as f64 / MICROS);
            if count > 0.0 && below + count >= rank {
                return Some(floor + (bound - floor) * ((rank - below) / count).max(0.0));
            }
            (below, floor) = (below + count, bound);
        }
        (self.count() > 0).then_some(floor)
    }
}
