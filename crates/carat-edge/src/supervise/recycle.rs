//! Which worker has had its time: a plain policy over plain numbers.

use std::fmt;
use std::time::Duration;

use super::memory::Size;
use crate::log::Field;

/// Why a worker is replaced by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// It has begun so many requests.
    Requests(u64),
    /// It has served for so long.
    Age(Duration),
    /// It becomes the next mold.
    Promotion,
    /// A worker of its time has become the mold.
    Outdated,
    /// It has so much for itself alone.
    Memory { private: Size, limit: Size },
    /// All together have too much, and it has the most.
    Budget { used: Size, limit: Size },
}

impl Reason {
    /// The figures that its log line has.
    pub(crate) fn figures(&self) -> Vec<Field<'_>> {
        match self {
            Reason::Memory { private, limit } => vec![("private", private), ("limit", limit)],
            Reason::Budget { used, limit } => vec![("used", used), ("limit", limit)],
            _ => Vec::new(),
        }
    }
}

/// The workers that are being replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leavers {
    /// Their successors do not serve yet.
    pub(crate) serving: u32,
    /// They finish what they hold.
    pub(crate) draining: u32,
}

impl Leavers {
    /// Whether there are none.
    pub(crate) fn is_nobody(self) -> bool {
        self.serving + self.draining == 0
    }

    /// Whether one more may be replaced because of its memory, where so many workers are wanted: one waits for its
    /// successor at a time, and those that drain, which may take long, are hardly more than those that serve.
    pub(crate) fn let_heavy_go(self, wanted: u32) -> bool {
        self.serving == 0 && self.draining <= wanted
    }

    /// Whether one more may be replaced for this reason. One that is only worn has time until all others have gone.
    pub(crate) fn allow(self, reason: &Reason, wanted: u32) -> bool {
        match reason {
            Reason::Memory { .. } | Reason::Budget { .. } => self.let_heavy_go(wanted),
            _ => self.is_nobody(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Requests(served) => write!(f, "{served} requests (worker_requests)"),
            Reason::Memory { .. } => write!(f, "too heavy (worker_memory)"),
            Reason::Budget { .. } => write!(f, "all together are too heavy (memory)"),
            Reason::Age(age) => write!(f, "{} s old (worker_age)", age.as_secs()),
            Reason::Promotion => write!(f, "it becomes the next mold (refork)"),
            Reason::Outdated => write!(f, "there is a newer mold (refork)"),
        }
    }
}

/// How much a worker may have done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wear {
    pub(crate) requests: Option<u64>,
    pub(crate) age: Option<Duration>,
}

impl Wear {
    /// Why the worker that was the `serial`th is to be replaced, if it is. The limits differ by up to a tenth from
    /// worker to worker, so that those that were started together do not end together.
    pub(crate) fn reason(&self, serial: u64, served: u64, age: Duration) -> Option<Reason> {
        let share = jitter(serial);
        #[expect(clippy::cast_precision_loss, reason = "a tenth more or less is meant")]
        let is_worn = |limit: u64| served as f64 >= limit as f64 * share;
        if self.requests.is_some_and(is_worn) {
            return Some(Reason::Requests(served));
        }
        let is_old = |limit: Duration| age >= limit.mul_f64(share);
        self.age.is_some_and(is_old).then_some(Reason::Age(age))
    }
}

/// From 0.9 to 1.1, evenly spread over any few numbers in a row: multiples of the golden ratio.
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
    fn a_worker_is_worn_at_its_limit_give_or_take_a_tenth() {
        let wear = Wear {
            requests: Some(1000),
            age: Some(HOUR),
        };
        for serial in 0..100 {
            assert_eq!(wear.reason(serial, 899, HOUR / 2), None);
            let worn = wear.reason(serial, 1101, HOUR / 2);
            assert_eq!(worn, Some(Reason::Requests(1101)));
            assert_eq!(
                wear.reason(serial, 0, HOUR * 2),
                Some(Reason::Age(HOUR * 2))
            );
        }
    }

    #[test]
    fn workers_that_were_started_together_do_not_end_together() {
        let wear = Wear {
            requests: Some(10_000),
            age: None,
        };
        let ends =
            |serial| (9_000..=11_000).find(|served| wear.reason(serial, *served, HOUR).is_some());
        let mut limits: Vec<_> = (0..4).map(ends).collect();
        limits.sort_unstable();
        let apart = limits
            .windows(2)
            .map(|pair| pair[1].expect("an end") - pair[0].expect("an end"));
        assert!(apart.min() >= Some(200), "{limits:?}");
    }

    #[test]
    fn one_at_a_time_is_replaced_but_the_heavy_do_not_wait_for_those_that_drain() {
        let heavy = Reason::Memory {
            private: Size(2),
            limit: Size(1),
        };
        let allowed = |serving, draining| {
            let leavers = Leavers { serving, draining };
            [Reason::Promotion, heavy].map(|reason| leavers.allow(&reason, 2))
        };
        assert_eq!(allowed(0, 0), [true, true]);
        assert_eq!(allowed(1, 0), [false, false]);
        assert_eq!(allowed(0, 2), [false, true]);
        assert_eq!(allowed(0, 3), [false, false]);
    }

    #[test]
    fn without_limits_no_worker_is_worn() {
        let wear = Wear {
            requests: None,
            age: None,
        };
        assert_eq!(wear.reason(0, u64::MAX, HOUR * 10_000), None);
    }
}
