use std::cell::Cell;
use std::time::Duration;

/// Upper bounds of the buckets, in microseconds.
const BUCKETS: [u64; 15] = [
    1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 10_000_000, 30_000_000, 60_000_000,
];

/// A histogram of times.
#[derive(Debug, Clone, Default)]
pub struct TimeHistogram {
    /// The counts by upper bound. The last bucket counts the times above all bounds.
    buckets: [Cell<u64>; TimeHistogram::SIZE],
    micros: Cell<u64>,
}

impl TimeHistogram {
    /// How many buckets there are.
    pub const SIZE: usize = BUCKETS.len() + 1;

    /// The upper bounds of the buckets but the last, in microseconds.
    pub const BOUNDS: [u64; Self::SIZE - 1] = BUCKETS;

    /// Counts a time.
    pub fn observe(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        // Most times are short.
        let bucket = BUCKETS.iter().position(|bound| micros <= *bound);
        let bucket = &self.buckets[bucket.unwrap_or(BUCKETS.len())];
        bucket.set(bucket.get().saturating_add(1));
        self.micros.set(self.micros.get().saturating_add(micros));
    }

    /// The counts of the buckets.
    pub fn counts(&self) -> impl Iterator<Item = u64> {
        self.buckets.iter().map(Cell::get)
    }

    /// The sum of all times, in microseconds.
    pub fn micros(&self) -> u64 {
        self.micros.get()
    }
}
