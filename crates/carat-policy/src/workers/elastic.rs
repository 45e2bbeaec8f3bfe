//! How many workers should run.

use std::time::Duration;

/// The option `workers`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerCount {
    /// The number of workers follows the load between these bounds.
    Between {
        /// The fewest workers, at least one.
        min: u32,
        /// The most workers; equal to `min` for a fixed number.
        max: u32,
    },
    /// From one worker to as many as there are processors.
    Auto,
}

/// The bounds between which the number of workers follows the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elastic {
    /// At least this many run.
    pub min: u32,
    /// At most this many run.
    pub max: u32,
    /// A longer queue time asks for more workers.
    pub queue_time_target: Duration,
    /// Whether `max` is the number of processors, also when that changes.
    pub follows_processors: bool,
}

/// The load since the last tick.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    /// How long requests waited for a lane.
    pub queue_time: Duration,
    /// How many requests are waiting.
    pub waiting: usize,
    /// How many requests one worker runs at once.
    pub slots: usize,
    /// Workers that are wanted and not yet serving.
    pub booting: u32,
}

impl Elastic {
    /// The bounds that `workers` sets on a machine with this many processors.
    pub fn new(workers: WorkerCount, queue_time_target: Duration, processors: u32) -> Elastic {
        let (min, max) = match workers {
            WorkerCount::Between { min, max } => (min, max),
            WorkerCount::Auto => (1, processors.max(1)),
        };
        Elastic {
            min,
            max,
            queue_time_target,
            follows_processors: workers == WorkerCount::Auto,
        }
    }

    /// The bounds on a machine that has this many processors now.
    #[must_use]
    pub fn on(self, processors: u32) -> Elastic {
        if self.follows_processors {
            Elastic::new(WorkerCount::Auto, self.queue_time_target, processors)
        } else {
            self
        }
    }

    /// The bounds for one worker more.
    #[must_use]
    pub fn raised(self) -> Elastic {
        Elastic {
            min: self.min.saturating_add(1),
            max: self.max.saturating_add(1),
            follows_processors: false,
            ..self
        }
    }

    /// The bounds for one worker fewer. They never go below one.
    #[must_use]
    pub fn lowered(self) -> Elastic {
        Elastic {
            min: self.min.saturating_sub(1).max(1),
            max: self.max.saturating_sub(1).max(1),
            follows_processors: false,
            ..self
        }
    }

    /// How many workers to run instead of `wanted`: enough for the waiting requests, but at most twice as many as
    /// before. While some workers are still booting, the number does not grow.
    pub fn grown(&self, wanted: u32, demand: &Demand) -> u32 {
        let is_short = demand.queue_time > self.queue_time_target && demand.waiting > 0;
        if !is_short || demand.booting > 0 {
            return wanted;
        }
        let needed = demand.waiting.div_ceil(demand.slots.max(1));
        let further = u32::try_from(needed).unwrap_or(u32::MAX).min(wanted.max(1));
        wanted.saturating_add(further).min(self.max).max(wanted)
    }

    /// Whether one of `wanted` workers may stop when it is idle.
    pub fn may_shrink(&self, wanted: u32) -> bool {
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
        follows_processors: false,
    };

    fn demand(queue_milliseconds: u64, waiting: usize) -> Demand {
        Demand {
            queue_time: Duration::from_millis(queue_milliseconds),
            waiting,
            slots: 3,
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
    fn no_more_workers_are_wanted_than_waiting_requests_can_use() {
        assert_eq!(ELASTIC.grown(4, &demand(20, 2)), 5);
        assert_eq!(ELASTIC.grown(4, &demand(20, 4)), 6);
        assert_eq!(ELASTIC.grown(4, &demand(20, 0)), 4);
    }

    #[test]
    fn a_queue_within_the_target_changes_nothing() {
        assert_eq!(ELASTIC.grown(2, &demand(5, 60)), 2);
    }

    #[test]
    fn no_more_are_wanted_while_others_boot() {
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
    fn the_bounds_move_together_and_one_worker_stays() {
        let bounds = |elastic: Elastic| (elastic.min, elastic.max);
        assert_eq!(bounds(ELASTIC.raised()), (2, 9));
        assert_eq!(bounds(ELASTIC.raised().lowered()), (1, 8));
        let two = Elastic { max: 2, ..ELASTIC };
        assert_eq!(bounds(two.lowered()), (1, 1));
        assert_eq!(bounds(two.lowered().lowered()), (1, 1));
    }

    #[test]
    fn a_number_is_a_range_of_one_and_auto_follows_the_processors() {
        let between = |workers| Elastic::new(workers, Duration::ZERO, 0);
        let three = between(WorkerCount::Between { min: 3, max: 3 });
        assert_eq!((three.min, three.max), (3, 3));
        assert_eq!(three.grown(3, &demand(20, 60)), 3);
        let auto = between(WorkerCount::Auto);
        assert_eq!((auto.min, auto.max), (1, 1));
        assert_eq!((auto.on(8).max, three.on(8).max), (8, 3));
    }
}
