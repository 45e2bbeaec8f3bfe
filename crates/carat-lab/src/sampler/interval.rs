//! Which allocations become samples: each byte has the same chance.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Of blocks of the allocator, and of objects of Ruby.
pub(super) static BLOCKS: Interval = Interval::new();
pub(super) static OBJECTS: Interval = Interval::new();

static SEED: AtomicU64 = AtomicU64::new(0);

/// The way from one sample to the next.
pub(super) struct Interval {
    /// Bytes until the next sample.
    remaining: AtomicI64,
    mean_bytes: AtomicU64,
}

impl Interval {
    const fn new() -> Interval {
        Interval {
            remaining: AtomicI64::new(i64::MAX),
            mean_bytes: AtomicU64::new(1),
        }
    }

    /// Samples one of so many bytes from now on.
    pub(super) fn begin(&self, mean_bytes: u64) {
        self.mean_bytes.store(mean_bytes.max(1), Ordering::Relaxed);
        self.remaining.store(self.draw(), Ordering::Relaxed);
    }

    /// Takes no samples from now on.
    pub(super) fn end(&self) {
        self.remaining.store(i64::MAX, Ordering::Relaxed);
    }

    /// Counts the bytes of an allocation, and returns whether it is a sample.
    pub(super) fn take(&self, bytes: usize) -> bool {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        let before = self.remaining.fetch_sub(bytes, Ordering::Relaxed);
        if before > bytes {
            return false;
        }
        self.remaining.store(self.draw(), Ordering::Relaxed);
        true
    }

    /// For how many allocations of this size a sample stands: the chance that one of its bytes is drawn, inverted.
    pub(super) fn scale(&self, bytes: usize) -> f64 {
        let share = float(bytes as u64) / float(self.mean_bytes.load(Ordering::Relaxed));
        // Precise for small shares, where 1 - exp(-share) is not.
        -1.0 / (-share).exp_m1()
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
