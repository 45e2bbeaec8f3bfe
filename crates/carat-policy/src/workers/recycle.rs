//! When to replace a worker, and how many at once.

use std::fmt;
use std::time::Duration;

use crate::{ByteSize, Counted};

/// Why a worker is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplacementReason {
    /// The worker reached `worker_requests`. The value is how many requests it was given.
    Requests(u64),
    /// The worker reached `worker_age`. The value is how long it served.
    Age(Duration),
    /// The worker becomes the next mold.
    Promotion,
    /// A worker of its generation became the mold.
    Outdated,
    /// The worker reached its limit of open files again, although it had collected its garbage.
    OpenFiles,
    /// A restart brought new code.
    Restart,
    /// The worker's private memory exceeds `worker_memory`.
    Memory {
        /// The worker's private memory.
        private: ByteSize,
        /// The option `worker_memory`.
        limit: ByteSize,
    },
    /// All processes together exceed `memory`, and this worker has the most private memory.
    Budget {
        /// The memory that all processes use.
        used: ByteSize,
        /// The memory that the option `memory` allows.
        limit: ByteSize,
    },
}

impl ReplacementReason {
    /// The sizes to log with the reason, by name.
    pub fn sizes(&self) -> Vec<(&'static str, ByteSize)> {
        match *self {
            Self::Memory { private, limit } => vec![("private", private), ("limit", limit)],
            Self::Budget { used, limit } => vec![("used", used), ("limit", limit)],
            _ => Vec::new(),
        }
    }
}

/// How many workers are being replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retirements {
    /// Workers that still serve, because their successors are not ready.
    pub serving: u32,
    /// Workers that finish their requests.
    pub draining: u32,
}

impl Retirements {
    /// Whether no worker is being replaced.
    pub fn is_empty(self) -> bool {
        self.serving + self.draining == 0
    }

    /// Whether another worker may be replaced because of its memory or its code when `wanted` workers should run. At
    /// most one waits for its successor, and at most `wanted` drain, because draining can take long.
    pub fn allow_heavy(self, wanted: u32) -> bool {
        self.serving == 0 && self.draining <= wanted
    }

    /// Whether another worker may be replaced for this reason. A worker that is due for recycling waits until no
    /// other is being replaced.
    pub fn allow(self, reason: &ReplacementReason, wanted: u32) -> bool {
        match reason {
            ReplacementReason::Memory { .. }
            | ReplacementReason::Budget { .. }
            | ReplacementReason::Restart => self.allow_heavy(wanted),
            ReplacementReason::Requests(_)
            | ReplacementReason::Age(_)
            | ReplacementReason::Promotion
            | ReplacementReason::Outdated
            | ReplacementReason::OpenFiles => self.is_empty(),
        }
    }
}

impl ReplacementReason {
    /// The kind of the reason in a word, for counters.
    pub fn kind(&self) -> &'static str {
        match self {
            ReplacementReason::Requests(_) => "worker_requests",
            ReplacementReason::Memory { .. } => "worker_memory",
            ReplacementReason::Budget { .. } => "memory",
            ReplacementReason::Age(_) => "worker_age",
            ReplacementReason::Promotion => "promotion",
            ReplacementReason::OpenFiles => "open_files",
            ReplacementReason::Restart => "restart",
            ReplacementReason::Outdated => "refork",
        }
    }
}

impl fmt::Display for ReplacementReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplacementReason::Requests(served) => {
                write!(f, "{} (worker_requests)", Counted(*served, "request"))
            }
            ReplacementReason::Memory { .. } => write!(f, "private memory exceeds worker_memory"),
            ReplacementReason::Budget { .. } => write!(f, "all processes together exceed memory"),
            ReplacementReason::Age(age) => write!(f, "{} s old (worker_age)", age.as_secs()),
            ReplacementReason::Promotion => write!(f, "promotion to mold (refork)"),
            ReplacementReason::OpenFiles => write!(f, "too many open files"),
            ReplacementReason::Restart => write!(f, "its code is replaced (restart)"),
            ReplacementReason::Outdated => write!(f, "older than the mold (refork)"),
        }
    }
}

/// The options `worker_requests` and `worker_age`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecycleLimits {
    /// How many requests a worker is given.
    pub requests: Option<u64>,
    /// How long a worker serves.
    pub age: Option<Duration>,
}

impl RecycleLimits {
    /// Why to replace the worker with this serial number, if it is due. Limits differ by up to 10 % from worker to
    /// worker, so that workers that started together do not end together.
    pub fn reason(&self, serial: u64, served: u64, age: Duration) -> Option<ReplacementReason> {
        let share = jitter(serial);
        #[expect(clippy::cast_precision_loss, reason = "the limit is approximate")]
        let is_due = |limit: u64| served as f64 >= limit as f64 * share;
        if self.requests.is_some_and(is_due) {
            return Some(ReplacementReason::Requests(served));
        }
        let is_old = |limit: Duration| age >= limit.mul_f64(share);
        self.age
            .is_some_and(is_old)
            .then_some(ReplacementReason::Age(age))
    }
}

/// A factor from 0.9 to 1.1. The multiples of the golden ratio for a few consecutive numbers spread evenly.
fn jitter(serial: u64) -> f64 {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    #[expect(clippy::cast_precision_loss, reason = "the first bits are enough")]
    let fraction = serial.wrapping_add(1).wrapping_mul(GOLDEN) as f64 / u64::MAX as f64;
    0.9 + 0.2 * fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn a_worker_is_worn_within_a_tenth_of_its_limit() {
        let limits = RecycleLimits {
            requests: Some(1000),
            age: Some(HOUR),
        };
        for serial in 0..100 {
            assert_eq!(limits.reason(serial, 899, HOUR / 2), None);
            let due = limits.reason(serial, 1101, HOUR / 2);
            assert_eq!(due, Some(ReplacementReason::Requests(1101)));
            let found = limits.reason(serial, 0, HOUR * 2);
            assert_eq!(found, Some(ReplacementReason::Age(HOUR * 2)));
        }
    }

    #[test]
    fn workers_that_started_together_do_not_end_together() {
        let limits = RecycleLimits {
            requests: Some(10_000),
            age: None,
        };
        let ends =
            |serial| (9_000..=11_000).find(|served| limits.reason(serial, *served, HOUR).is_some());
        let mut limits: Vec<_> = (0..4).map(ends).collect();
        limits.sort_unstable();
        let apart = limits
            .windows(2)
            .map(|pair| pair[1].expect("an end") - pair[0].expect("an end"));
        assert!(apart.min() >= Some(200), "{limits:?}");
    }

    #[test]
    fn one_is_replaced_at_a_time_but_heavy_ones_do_not_wait_for_drains() {
        let heavy = ReplacementReason::Memory {
            private: ByteSize(2),
            limit: ByteSize(1),
        };
        let allowed = |serving, draining| {
            let retirements = Retirements { serving, draining };
            [ReplacementReason::Promotion, heavy].map(|reason| retirements.allow(&reason, 2))
        };
        assert_eq!(allowed(0, 0), [true, true]);
        assert_eq!(allowed(1, 0), [false, false]);
        assert_eq!(allowed(0, 2), [false, true]);
        assert_eq!(allowed(0, 3), [false, false]);
    }

    #[test]
    fn a_single_request_is_singular() {
        let texts = [1, 2].map(|served| ReplacementReason::Requests(served).to_string());
        assert_eq!(
            texts,
            [
                "1 request (worker_requests)",
                "2 requests (worker_requests)"
            ]
        );
    }

    #[test]
    fn without_limits_no_worker_is_recycled() {
        let limits = RecycleLimits {
            requests: None,
            age: None,
        };
        assert_eq!(limits.reason(0, u64::MAX, HOUR * 10_000), None);
    }
}
