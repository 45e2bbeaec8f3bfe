//! The workers as plain data.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::channel::Channel;

/// A worker as the edge sees it.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) generation: u32,
    /// Known once the worker has said hello.
    pub(crate) pid: Option<u32>,
    pub(crate) channel: Channel,
    pub(crate) stage: Stage,
}

/// Where a worker stands in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Forked, not ready before this deadline: killed.
    Booting { deadline: Instant },
    /// Takes requests.
    Ready,
    /// Finishes what it holds; told to end when it has, killed at the deadline.
    Retiring { deadline: Instant },
    /// Was told to end; killed at the deadline.
    Ending { deadline: Instant },
}

impl Stage {
    /// Whether the worker serves, or is about to.
    fn counts(self) -> bool {
        matches!(self, Stage::Booting { .. } | Stage::Ready)
    }

    /// Whether its time is over.
    pub(crate) fn is_overdue(self, now: Instant) -> bool {
        match self {
            Stage::Ready => false,
            Stage::Booting { deadline }
            | Stage::Retiring { deadline }
            | Stage::Ending { deadline } => now >= deadline,
        }
    }

    /// The same stage, to be looked at again after `pause`: its process was sent a signal.
    pub(crate) fn extended(self, now: Instant, pause: Duration) -> Stage {
        match self {
            Stage::Ready => Stage::Ready,
            _ => Stage::Ending {
                deadline: now + pause,
            },
        }
    }
}

/// All workers, by their number.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    workers: BTreeMap<u32, Worker>,
}

impl Roster {
    /// The smallest number that no worker has.
    pub(crate) fn free_number(&self) -> u32 {
        let taken = self.workers.keys().copied();
        taken
            .zip(1..)
            .find(|(number, place)| number != place)
            .map_or_else(
                || self.workers.keys().next_back().map_or(1, |last| last + 1),
                |(_, place)| place,
            )
    }

    /// How many workers must be forked to have `wanted`.
    pub(crate) fn missing(&self, wanted: u32) -> u32 {
        let serving = self
            .workers
            .values()
            .filter(|worker| worker.stage.counts())
            .count();
        wanted.saturating_sub(u32::try_from(serving).unwrap_or(u32::MAX))
    }

    pub(crate) fn insert(&mut self, number: u32, worker: Worker) {
        self.workers.insert(number, worker);
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Worker> {
        self.workers.get_mut(&number)
    }

    pub(crate) fn remove(&mut self, number: u32) -> Option<Worker> {
        self.workers.remove(&number)
    }

    /// The number of the worker with this process.
    pub(crate) fn number_of(&self, pid: u32) -> Option<u32> {
        self.workers
            .iter()
            .find(|(_, worker)| worker.pid == Some(pid))
            .map(|(&number, _)| number)
    }

    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.workers.keys().copied().collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.workers.is_empty()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut Worker)> {
        self.workers
            .iter_mut()
            .map(|(&number, worker)| (number, worker))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_gets_the_smallest_free_number() {
        let numbers = |taken: &[u32]| {
            let mut roster = Roster::default();
            for &number in taken {
                roster.insert(number, idle_worker());
            }
            roster.free_number()
        };
        assert_eq!(numbers(&[]), 1);
        assert_eq!(numbers(&[1, 2]), 3);
        assert_eq!(numbers(&[2, 3]), 1);
        assert_eq!(numbers(&[1, 3]), 2);
    }

    #[test]
    fn a_retiring_worker_is_replaced_before_it_has_ended() {
        let mut roster = Roster::default();
        roster.insert(1, idle_worker());
        assert_eq!(roster.missing(1), 0);
        let retiring = Stage::Retiring {
            deadline: Instant::now(),
        };
        roster.get_mut(1).expect("just inserted").stage = retiring;
        assert_eq!(roster.missing(1), 1);
    }

    fn idle_worker() -> Worker {
        Worker {
            generation: 1,
            pid: Some(42),
            channel: Channel::unconnected(),
            stage: Stage::Ready,
        }
    }
}
