//! How many workers there should be: a plain policy over plain numbers.

use std::time::Duration;

use crate::settings::Workers;

/// The bounds between which the number of workers follows the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Elastic {
    pub(crate) min: u32,
    pub(crate) max: u32,
    /// A queue time above this asks for more workers.
    pub(crate) queue_time_target: Duration,
}

/// What the load has been since the last look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Demand {
    /// How long requests have waited for a lane.
    pub(crate) queue_time: Duration,
    /// How many requests wait.
    pub(crate) waiting: usize,
    /// How many requests one worker runs at once.
    pub(crate) places: usize,
    /// Workers that are wanted and do not serve yet.
    pub(crate) booting: u32,
}

impl Elastic {
    /// The bounds of a configuration, on a machine where `fitting` workers fit.
    pub(crate) fn new(workers: Workers, queue_time_target: Duration, fitting: u32) -> Elastic {
        let (min, max) = match workers {
            Workers::Between { min, max } => (min, max),
            Workers::Auto => (1, fitting.max(1)),
        };
        Elastic {
            min,
            max,
            queue_time_target,
        }
    }

    /// How many workers are wanted where `wanted` were: enough for those that wait, at most twice as many, and no
    /// more before those that boot have shown what they change.
    pub(crate) fn grown(&self, wanted: u32, demand: &Demand) -> u32 {
        let is_short = demand.queue_time > self.queue_time_target && demand.waiting > 0;
        if !is_short || demand.booting > 0 {
            return wanted;
        }
        let needed = demand.waiting.div_ceil(demand.places.max(1));
        let further = u32::try_from(needed).unwrap_or(u32::MAX).min(wanted.max(1));
        wanted.saturating_add(further).min(self.max).max(wanted)
    }

    /// Whether one of `wanted` workers may end when it has nothing to do.
    pub(crate) fn may_shrink(&self, wanted: u32) -> bool {
        wanted > self.min
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ELASTIC: Elastic = Elastic {
        min: 1,
        max: 8,
        queue_time_target: Duration::from_millis(5),
    };

    fn demand(queue_milliseconds: u64, waiting: usize) -> Demand {
        Demand {
            queue_time: Duration::from_millis(queue_milliseconds),
            waiting,
            places: 3,
            booting: 0,
        }
    }

    #[test]
    fn workers_double_up_to_the_maximum_while_requests_wait_too_long() {
        let mut wanted = 1;
        let mut seen = Vec::new();
        for _ in 0..4 {
            wanted = ELASTIC.grown(wanted, &demand(20, 60));
            seen.push(wanted);
        }
        assert_eq!(seen, [2, 4, 8, 8]);
    }

    #[test]
    fn no_more_are_wanted_than_the_waiting_requests_have_use_for() {
        assert_eq!(ELASTIC.grown(4, &demand(20, 2)), 5);
        assert_eq!(ELASTIC.grown(4, &demand(20, 4)), 6);
        assert_eq!(ELASTIC.grown(4, &demand(20, 0)), 4);
    }

    #[test]
    fn a_queue_within_the_target_changes_nothing() {
        assert_eq!(ELASTIC.grown(2, &demand(5, 60)), 2);
    }

    #[test]
    fn those_that_boot_are_waited_for() {
        let booting = Demand {
            booting: 1,
            ..demand(20, 60)
        };
        assert_eq!(ELASTIC.grown(2, &booting), 2);
    }

    #[test]
    fn workers_shrink_to_the_minimum_and_not_below() {
        assert!(ELASTIC.may_shrink(2));
        assert!(!ELASTIC.may_shrink(1));
    }

    #[test]
    fn a_number_is_a_range_of_one_and_auto_what_fits() {
        let between = |workers| Elastic::new(workers, Duration::ZERO, 0);
        let three = between(Workers::Between { min: 3, max: 3 });
        assert_eq!((three.min, three.max), (3, 3));
        assert_eq!(three.grown(3, &demand(20, 60)), 3);
        let auto = between(Workers::Auto);
        assert_eq!((auto.min, auto.max), (1, 1));
    }
}
