//! The limit on the number of workers after they have exceeded the memory budget.

use std::mem::replace;
use std::time::{Duration, Instant};

use crate::Backoff;

const FIRST_PAUSE: Duration = Duration::from_secs(60);
const PAUSE_LIMIT: Duration = Duration::from_secs(600);

/// Limits the number of workers for a pause, after they have repeatedly exceeded the budget. Without the limit, a young
/// worker would be forked again, because it needs little memory until it has grown. The pause doubles each time.
#[derive(Debug)]
pub struct WorkerCeiling {
    most: u32,
    /// Whether the budget was exceeded not long ago. A single excess sets no limit.
    was_exceeded: bool,
    pauses: Backoff,
    /// When the last pause was seen to be over.
    lifted: Option<Instant>,
}

impl Default for WorkerCeiling {
    fn default() -> Self {
        WorkerCeiling {
            most: u32::MAX,
            was_exceeded: false,
            pauses: Backoff::between(FIRST_PAUSE, PAUSE_LIMIT),
            lifted: None,
        }
    }
}

impl WorkerCeiling {
    /// Records that one worker more than `workers` exceeded the budget.
    pub fn lower(&mut self, workers: u32, now: Instant) {
        if replace(&mut self.was_exceeded, true) {
            self.most = workers.max(1);
            self.pauses.fail(now);
        }
        self.lifted = None;
    }

    /// Lifts the limit when the pause is over. Forgets the pauses when the budget was not exceeded for the longest
    /// pause.
    pub fn review(&mut self, now: Instant) {
        if !self.pauses.allows(now) {
            return;
        }
        self.most = u32::MAX;
        if now >= *self.lifted.get_or_insert(now) + PAUSE_LIMIT {
            self.pauses.succeed();
            self.was_exceeded = false;
        }
    }

    /// How many more workers may run beside these.
    pub fn room(&self, workers: u32) -> u32 {
        self.most.saturating_sub(workers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_pause_doubles_until_nothing_was_exceeded_for_long() {
        let mut now = Instant::now();
        let mut ceiling = WorkerCeiling::default();
        let mut pause = |quiet: u32| {
            now += SECOND * quiet;
            ceiling.review(now);
            ceiling.lower(2, now);
            let begun = now;
            while ceiling.room(2) == 0 {
                now += SECOND;
                ceiling.review(now);
            }
            (now - begun).as_secs()
        };
        let pauses: Vec<u64> = [0, 30, 30, 30, 30, 30, 30, 601, 30].map(&mut pause).into();
        assert_eq!(pauses, [0, 60, 120, 240, 480, 600, 600, 0, 60]);
    }

    #[test]
    fn one_worker_always_has_room() {
        let mut ceiling = WorkerCeiling::default();
        let now = Instant::now();
        ceiling.lower(0, now);
        ceiling.lower(0, now);
        assert_eq!((ceiling.room(0), ceiling.room(1)), (1, 0));
    }
}
