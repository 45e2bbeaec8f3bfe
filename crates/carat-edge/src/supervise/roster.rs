//! The workers as plain data.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::channel::Channel;
use super::memory::Weight;
use super::recycle::{Leavers, Reason};
use crate::dispatch::Lane;
use crate::dispatch::WorkerId;
use crate::log::Field;

/// A worker as the edge sees it.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) id: WorkerId,
    pub(crate) generation: u32,
    /// Known once the worker has said hello.
    pub(crate) pid: Option<u32>,
    pub(crate) channel: Channel,
    pub(crate) lanes: Vec<Rc<Lane>>,
    pub(crate) boot: Boot,
    pub(crate) stage: Stage,
    /// Since when it serves.
    pub(crate) ready_since: Option<Instant>,
    /// How many requests it was given before the mold of today took over.
    pub(crate) begun_before: u64,
    /// Why it ends when its successor serves.
    pub(crate) leaves_for: Option<Reason>,
    /// What it weighed when it was weighed last since it is ready.
    pub(crate) weight: Option<Weight>,
}

impl Worker {
    /// How log lines name it.
    pub(crate) fn identity(&self) -> Vec<Field<'_>> {
        let mut fields: Vec<Field<'_>> = vec![("worker", &self.id), ("gen", &self.generation)];
        if let Some(pid) = &self.pid {
            fields.push(("pid", pid));
        }
        fields
    }

    /// How many requests it was given.
    pub(crate) fn begun(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.begun_count()).sum()
    }

    /// How many requests it was given since the mold of today took over.
    pub(crate) fn begun_since_takeover(&self) -> u64 {
        self.begun().saturating_sub(self.begun_before)
    }

    /// Whether it leaves to become the mold.
    pub(crate) fn is_promoted(&self) -> bool {
        self.leaves_for == Some(Reason::Promotion)
    }

    /// It does not become the mold, and only ends if that has begun.
    pub(crate) fn forgo_promotion(&mut self) {
        if self.is_promoted() {
            self.leaves_for = None;
        }
    }

    /// What it has for itself, in bytes; 0 when it has not been weighed.
    pub(crate) fn private(&self) -> u64 {
        self.weight.map_or(0, |weight| weight.rollup.private)
    }

    /// How long it has served.
    pub(crate) fn age(&self, now: Instant) -> Duration {
        let since = self.ready_since.unwrap_or(now);
        now.saturating_duration_since(since)
    }

    /// How long it has had nothing to do.
    fn idle(&self, now: Instant) -> Duration {
        let idle = self.lanes.iter().map(|lane| lane.idle(now));
        idle.min().unwrap_or_default()
    }

    /// Whether it serves, or is about to, and stays.
    pub(crate) fn counts(&self) -> bool {
        matches!(self.stage, Stage::Booting { .. } | Stage::Ready) && self.leaves_for.is_none()
    }
}

/// How far a worker's boot has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Boot {
    Pending,
    /// The worker has said why it cannot boot.
    Failed,
    Done,
}

/// Where a worker stands in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Forked, not ready before this deadline: killed.
    Booting { deadline: Instant },
    /// Takes requests.
    Ready,
    /// Finishes what it holds; told to end when it has, or at the deadline.
    Retiring { deadline: Instant },
    /// One of its requests takes too long. It says where that stands, until `stack`, and finishes the
    /// others; told to end when it has, or at the deadline.
    Stuck { stack: Instant, deadline: Instant },
    /// Was told to end; killed at the deadline.
    Ending { deadline: Instant },
    /// Was killed because its time was over; once more at the deadline.
    Killed { deadline: Instant },
    /// Has closed a socket without being told; killed at the deadline.
    Lost { deadline: Instant },
}

impl Stage {
    /// Whether nothing more is expected of it than its end.
    pub(crate) fn is_last(self) -> bool {
        matches!(
            self,
            Stage::Ending { .. } | Stage::Killed { .. } | Stage::Lost { .. }
        )
    }

    /// Whether its time is over.
    pub(crate) fn is_overdue(self, now: Instant) -> bool {
        match self {
            Stage::Ready => false,
            Stage::Booting { deadline }
            | Stage::Retiring { deadline }
            | Stage::Stuck { deadline, .. }
            | Stage::Ending { deadline }
            | Stage::Killed { deadline }
            | Stage::Lost { deadline } => now >= deadline,
        }
    }

    /// What follows when its process was sent SIGTERM, or SIGKILL if it had that; to be looked at again after `pause`.
    pub(crate) fn after_signal(self, now: Instant, pause: Duration) -> Stage {
        let deadline = now + pause;
        match self {
            Stage::Ready => Stage::Ready,
            Stage::Lost { .. } => Stage::Lost { deadline },
            Stage::Retiring { .. } | Stage::Stuck { .. } => Stage::Ending { deadline },
            _ => Stage::Killed { deadline },
        }
    }
}

/// All workers, by their number.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    workers: BTreeMap<u32, Worker>,
    next_serial: u64,
}

impl Roster {
    /// Names the next worker, by the smallest number that no worker has.
    pub(crate) fn next_id(&mut self) -> WorkerId {
        let taken = self.workers.keys().copied();
        let number = taken
            .zip(1..)
            .find(|(number, place)| number != place)
            .map_or_else(
                || self.workers.keys().next_back().map_or(1, |last| last + 1),
                |(_, place)| place,
            );
        let serial = self.next_serial;
        self.next_serial += 1;
        WorkerId { number, serial }
    }

    /// How many workers must be forked to have `wanted`.
    pub(crate) fn missing(&self, wanted: u32) -> u32 {
        wanted.saturating_sub(self.staying())
    }

    /// How many workers serve, or are about to, and stay.
    pub(crate) fn staying(&self) -> u32 {
        self.count(Worker::counts)
    }

    /// Those that are being replaced.
    pub(crate) fn leavers(&self) -> Leavers {
        let serves = |worker: &Worker| worker.stage == Stage::Ready;
        Leavers {
            serving: self.count(|worker| worker.leaves_for.is_some() && serves(worker)),
            draining: self.count(|worker| worker.leaves_for.is_some() && !serves(worker)),
        }
    }

    /// What those have for themselves that take no requests any more, in bytes: it is free when they end.
    pub(crate) fn leaving_bytes(&self) -> u64 {
        let stays = |worker: &&Worker| matches!(worker.stage, Stage::Booting { .. } | Stage::Ready);
        let leaving = self.iter().filter(|worker| !stays(worker));
        leaving.map(Worker::private).sum()
    }

    /// How many workers serve and stay.
    pub(crate) fn serving(&self) -> u32 {
        self.count(|worker| worker.stage == Stage::Ready && worker.counts())
    }

    /// How many workers do not serve yet.
    pub(crate) fn booting(&self) -> u32 {
        self.count(|worker| matches!(worker.stage, Stage::Booting { .. }))
    }

    /// The worker that has had nothing to do for longest, and how long that is.
    pub(crate) fn coldest(&self, now: Instant) -> Option<(WorkerId, Duration)> {
        let staying = self
            .iter()
            .filter(|worker| worker.stage == Stage::Ready && worker.counts());
        let idle = staying.map(|worker| (worker.id, worker.idle(now)));
        idle.max_by_key(|(_, idle)| *idle)
    }

    fn count(&self, is_meant: impl Fn(&Worker) -> bool) -> u32 {
        let count = self.iter().filter(|worker| is_meant(worker)).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    pub(crate) fn insert(&mut self, worker: Worker) {
        self.workers.insert(worker.id.number, worker);
    }

    pub(crate) fn get_mut(&mut self, id: WorkerId) -> Option<&mut Worker> {
        let worker = self.workers.get_mut(&id.number);
        worker.filter(|worker| worker.id == id)
    }

    pub(crate) fn remove(&mut self, id: WorkerId) -> Option<Worker> {
        self.get_mut(id)?;
        self.workers.remove(&id.number)
    }

    /// The worker with this process.
    pub(crate) fn with_pid(&self, pid: u32) -> Option<WorkerId> {
        let mut workers = self.workers.values();
        workers
            .find(|worker| worker.pid == Some(pid))
            .map(|worker| worker.id)
    }

    pub(crate) fn ids(&self) -> Vec<WorkerId> {
        self.workers.values().map(|worker| worker.id).collect()
    }

    /// Those whose time to boot is over, and of whom nobody knows that yet.
    pub(crate) fn late_boots(&self, now: Instant) -> Vec<WorkerId> {
        let late = self.workers.values().filter(|worker| {
            let is_booting = matches!(worker.stage, Stage::Booting { .. });
            is_booting && worker.boot == Boot::Pending && worker.stage.is_overdue(now)
        });
        late.map(|worker| worker.id).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.workers.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Worker> {
        self.workers.values()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Worker> {
        self.workers.values_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_gets_the_smallest_free_number() {
        let next_number = |taken: &[u32]| {
            let mut roster = Roster::default();
            for &number in taken {
                roster.insert(idle_worker(WorkerId { number, serial: 0 }));
            }
            roster.next_id().number
        };
        assert_eq!(next_number(&[]), 1);
        assert_eq!(next_number(&[1, 2]), 3);
        assert_eq!(next_number(&[2, 3]), 1);
        assert_eq!(next_number(&[1, 3]), 2);
    }

    #[test]
    fn a_worker_is_not_taken_for_the_one_that_had_its_number_before() {
        let mut roster = Roster::default();
        let old = roster.next_id();
        roster.insert(idle_worker(old));
        roster.remove(old);
        let new = roster.next_id();
        roster.insert(idle_worker(new));
        assert_eq!(old.number, new.number);
        assert!(roster.get_mut(old).is_none());
        assert!(roster.remove(old).is_none());
        assert!(roster.get_mut(new).is_some());
    }

    #[test]
    fn a_retiring_worker_is_replaced_before_it_has_ended() {
        let mut roster = Roster::default();
        let id = roster.next_id();
        roster.insert(idle_worker(id));
        assert_eq!(roster.missing(1), 0);
        let deadline = Instant::now();
        roster.get_mut(id).expect("just inserted").stage = Stage::Retiring { deadline };
        assert_eq!(roster.missing(1), 1);
    }

    #[test]
    fn a_worker_that_drains_is_no_longer_waited_for_and_is_not_gone() {
        let mut roster = Roster::default();
        let id = roster.next_id();
        roster.insert(idle_worker(id));
        let worker = roster.get_mut(id).expect("just inserted");
        worker.leaves_for = Some(Reason::Promotion);
        let leavers = |serving, draining| Leavers { serving, draining };
        assert_eq!(roster.leavers(), leavers(1, 0));
        let deadline = Instant::now();
        roster.get_mut(id).expect("just inserted").stage = Stage::Retiring { deadline };
        assert_eq!(roster.leavers(), leavers(0, 1));
    }

    fn idle_worker(id: WorkerId) -> Worker {
        Worker {
            id,
            generation: 1,
            pid: Some(42),
            channel: Channel::unconnected(),
            lanes: Vec::new(),
            boot: Boot::Done,
            stage: Stage::Ready,
            ready_since: None,
            begun_before: 0,
            leaves_for: None,
            weight: None,
        }
    }
}
