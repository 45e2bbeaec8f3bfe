//! Which allocations become samples: each byte has the same chance, which becomes less while samples cost too much time.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Instant;

/// Of blocks of the allocator, and of objects of Ruby.
pub(super) static BLOCKS: Interval = Interval::new();
pub(super) static OBJECTS: Interval = Interval::new();

static SEED: AtomicU64 = AtomicU64::new(0);

/// So many samples are taken before their cost is judged.
const JUDGED: u64 = 128;
/// A limit of so many percent is none.
const NO_LIMIT: u64 = 100;

/// The way from one sample to the next.
pub(super) struct Interval {
    /// Bytes until the next sample.
    remaining: AtomicI64,
    mean_bytes: AtomicU64,
    /// Samples since the beginning.
    taken: AtomicU64,
    /// When the cost was judged last, in nanoseconds of [`clock`], and what samples have cost since then.
    judged: AtomicU64,
    spent: AtomicU64,
    /// The percentage of the time that samples may take.
    cost_limit: AtomicU64,
}

impl Interval {
    const fn new() -> Interval {
        Interval {
            remaining: AtomicI64::new(i64::MAX),
            mean_bytes: AtomicU64::new(1),
            taken: AtomicU64::new(0),
            judged: AtomicU64::new(0),
            spent: AtomicU64::new(0),
            cost_limit: AtomicU64::new(NO_LIMIT),
        }
    }

    /// Samples one of so many bytes from now on, and fewer when samples take more than so many percent of the time.
    pub(super) fn begin(&self, mean_bytes: u64, cost_limit: u64) {
        self.cost_limit.store(cost_limit, Ordering::Relaxed);
        self.taken.store(0, Ordering::Relaxed);
        self.spent.store(0, Ordering::Relaxed);
        self.judged.store(clock(), Ordering::Relaxed);
        self.mean_bytes.store(mean_bytes.max(1), Ordering::Relaxed);
        self.remaining.store(self.draw(), Ordering::Relaxed);
    }

    /// Takes no samples from now on.
    pub(super) fn end(&self) {
        self.remaining.store(i64::MAX, Ordering::Relaxed);
    }

    /// Bytes for which one sample stands now, on average.
    pub(super) fn mean_bytes(&self) -> u64 {
        self.mean_bytes.load(Ordering::Relaxed)
    }

    /// Counts the bytes of an allocation. If it is a sample, returns for how many allocations of this size it stands: each
    /// stands for the interval in which it was drawn.
    pub(super) fn take(&self, bytes: usize) -> Option<f64> {
        let mean_bytes = self.mean_bytes();
        let counted = i64::try_from(bytes).unwrap_or(i64::MAX);
        // Not `fetch_sub`, which costs more than all else here. Threads without Ruby's lock may lose bytes of each other.
        let before = self.remaining.load(Ordering::Relaxed);
        if before <= 0 {
            return None; // Another thread is about to draw the next interval.
        }
        self.remaining.store(before - counted, Ordering::Relaxed);
        if before > counted {
            return None;
        }
        self.judge();
        self.remaining.store(self.draw(), Ordering::Relaxed);
        Some(scale(bytes, mean_bytes))
    }

    /// A sample has cost this much time.
    pub(super) fn spend(&self, nanos: u64) {
        self.spent.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Doubles the interval when samples cost too much time.
    fn judge(&self) {
        let taken = self.taken.fetch_add(1, Ordering::Relaxed) + 1;
        let limit = self.cost_limit.load(Ordering::Relaxed);
        if taken % JUDGED != 0 || limit >= NO_LIMIT {
            return;
        }
        let now = clock();
        let passed = now.saturating_sub(self.judged.swap(now, Ordering::Relaxed));
        let spent = self.spent.swap(0, Ordering::Relaxed);
        if spent.saturating_mul(100) > passed.saturating_mul(limit) {
            let doubled = self.mean_bytes().saturating_mul(2);
            self.mean_bytes.store(doubled, Ordering::Relaxed);
        }
    }

    /// The bytes until the next sample have an exponential distribution: samples then do not fall into step with the
    /// program.
    fn draw(&self) -> i64 {
        let mean = float(self.mean_bytes.load(Ordering::Relaxed));
        let bytes = -unit().ln() * mean;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a cast of a float saturates"
        )]
        let bytes = bytes as i64;
        bytes.max(1)
    }
}

/// The chance that one of so many bytes is drawn, inverted.
fn scale(bytes: usize, mean_bytes: u64) -> f64 {
    let share = float(bytes as u64) / float(mean_bytes);
    // Precise for small shares, where 1 - exp(-share) is not.
    -1.0 / (-share).exp_m1()
}

/// Nanoseconds since the first call.
pub(crate) fn clock() -> u64 {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    let passed = BEGAN.get_or_init(Instant::now).elapsed();
    u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX)
}

/// Begins another sequence of random numbers.
pub(super) fn seed(seed: u64) {
    SEED.store(seed, Ordering::Relaxed);
}

/// A random number above 0, up to 1, by splitmix64.
pub(super) fn unit() -> f64 {
    let mut bits = SEED.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    float((bits >> 11) + 1) / float(1 << 53)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "estimates need no more precision"
)]
fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 100;

    /// The sum of what samples of so many blocks stand for, by an interval of 1000 bytes at first. A sample takes a second.
    fn estimate(interval: &Interval, blocks: usize, cost_limit: u64) -> f64 {
        interval.begin(1000, cost_limit);
        let samples = (0..blocks).filter_map(|_| interval.take(SIZE));
        samples.inspect(|_| interval.spend(1_000_000_000)).sum()
    }

    #[test]
    fn samples_stand_for_what_was_allocated_while_the_interval_grows() {
        let interval = Interval::new();
        let estimate = estimate(&interval, 1_000_000, 99);
        assert!(interval.mean_bytes() >= 64_000, "it did not grow");
        // Half of the weight is that of 128 samples.
        assert!((600_000.0..1_400_000.0).contains(&estimate), "{estimate}");
    }

    #[test]
    fn an_interval_without_a_limit_does_not_grow() {
        let interval = Interval::new();
        let estimate = estimate(&interval, 1_000_000, NO_LIMIT);
        assert_eq!(interval.mean_bytes(), 1000);
        assert!((970_000.0..1_030_000.0).contains(&estimate), "{estimate}");
    }

    #[test]
    fn fewer_samples_than_are_judged_do_not_let_it_grow() {
        let interval = Interval::new();
        let _ = estimate(&interval, 500, 1);
        assert_eq!(interval.mean_bytes(), 1000);
    }
}
