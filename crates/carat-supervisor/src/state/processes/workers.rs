use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use carat_policy::{Backoff, Retirements};

use super::worker::{Worker, WorkerBoot};
use crate::command::{Command, WorkerCommand};
use crate::reading::WorkerTraffic;
use crate::state::reaction::Reaction;
use carat_log::WorkerId;

/// How long a worker has no request before it returns its free memory.
const TRIM_AFTER: Duration = Duration::from_secs(10);

/// All workers, by number.
#[derive(Debug, Default)]
pub struct Workers {
    by_number: BTreeMap<u32, Worker>,
    next_serial: u64,
    /// How many workers should run.
    pub wanted: u32,
    /// When the next worker may be forked, after others failed to boot.
    pub backoff: Backoff,
}

impl Workers {
    /// No workers yet, while this many should run.
    pub fn wanting(wanted: u32) -> Workers {
        Workers {
            wanted,
            ..Workers::default()
        }
    }

    /// Names the next worker by the smallest free number.
    pub fn next_id(&mut self) -> WorkerId {
        let taken = self.by_number.keys().copied();
        let number = (1..)
            .zip(taken)
            .find(|(free, number)| free != number)
            .map_or_else(
                || self.by_number.keys().next_back().map_or(1, |last| last + 1),
                |(free, _)| free,
            );
        let serial = self.next_serial;
        self.next_serial += 1;
        WorkerId { number, serial }
    }

    pub fn insert(&mut self, worker: Worker) {
        self.by_number.insert(worker.id.number, worker);
    }

    pub fn get(&self, id: WorkerId) -> Option<&Worker> {
        let worker = self.by_number.get(&id.number);
        worker.filter(|worker| worker.id == id)
    }

    pub fn get_mut(&mut self, id: WorkerId) -> Option<&mut Worker> {
        let worker = self.by_number.get_mut(&id.number);
        worker.filter(|worker| worker.id == id)
    }

    pub fn remove(&mut self, id: WorkerId) -> Option<Worker> {
        self.get(id)?;
        self.by_number.remove(&id.number)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Worker> {
        self.by_number.values()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Worker> {
        self.by_number.values_mut()
    }

    /// The workers that take requests, including the ones that are to be replaced.
    pub fn ready(&self) -> impl Iterator<Item = &Worker> {
        self.iter().filter(|worker| worker.is_ready())
    }

    pub fn ids(&self) -> Vec<WorkerId> {
        self.iter().map(|worker| worker.id).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.by_number.is_empty()
    }

    /// The workers of generations before this one that have not booted.
    pub fn booting_before(&self, generation: u32) -> Vec<WorkerId> {
        let old = self
            .iter()
            .filter(|it| it.is_booting() && it.generation < generation);
        old.map(|worker| worker.id).collect()
    }

    /// Whether a worker takes no more requests.
    pub fn is_anyone_leaving(&self) -> bool {
        self.iter().any(|it| !it.is_booting() && !it.is_ready())
    }

    /// The worker with this process id.
    pub fn with_pid(&self, pid: u32) -> Option<WorkerId> {
        let mut workers = self.iter();
        let worker = workers.find(|worker| worker.pid == Some(pid));
        worker.map(|worker| worker.id)
    }

    /// Updates the requests, idle times, and tunnels of the workers.
    pub fn update_traffic(&mut self, traffic: &[WorkerTraffic]) {
        for known in traffic {
            if let Some(worker) = self.get_mut(known.worker) {
                worker.requests = known.requests;
                worker.idle = known.idle;
                worker.tunnels = known.tunnels;
                worker.collects = known.collects;
            }
        }
    }

    /// How many of the wanted workers do not run.
    pub fn missing(&self) -> u32 {
        self.wanted.saturating_sub(self.staying())
    }

    /// How many workers serve, or are about to, and are not being replaced.
    pub fn staying(&self) -> u32 {
        self.count(Worker::stays)
    }

    /// How many workers serve and are not being replaced.
    pub fn serving(&self) -> u32 {
        self.count(|worker| worker.is_ready() && worker.stays())
    }

    /// The private memory of each worker that serves and is not being replaced, the coldest worker first.
    pub fn private_coldest_first(&self) -> Vec<u64> {
        let serving = self.ready().filter(|worker| worker.stays());
        let mut serving: Vec<_> = serving.collect();
        serving.sort_by_key(|worker| Reverse(worker.coldness()));
        serving.into_iter().map(Worker::private).collect()
    }

    /// How many workers do not serve yet.
    pub fn booting(&self) -> u32 {
        self.count(Worker::is_booting)
    }

    /// How many workers are being replaced.
    pub fn retirements(&self) -> Retirements {
        let retires = |worker: &Worker| worker.replacement.is_some();
        Retirements {
            serving: self.count(|worker| retires(worker) && worker.is_ready()),
            draining: self.count(|worker| retires(worker) && !worker.is_ready()),
        }
    }

    /// The private memory of the workers that take no more requests, in bytes. It is free when they end.
    pub fn leaving_bytes(&self) -> u64 {
        let leaves = |worker: &&Worker| !worker.is_booting() && !worker.is_ready();
        self.iter().filter(leaves).map(Worker::private).sum()
    }

    /// The workers that are not ready in time, except those whose failure is logged.
    pub fn late_boots(&self, now: Instant) -> Vec<WorkerId> {
        let late = self.iter().filter(|worker| {
            let is_pending = worker.is_booting() && worker.boot == WorkerBoot::Pending;
            is_pending && worker.stage.is_over(now)
        });
        late.map(|worker| worker.id).collect()
    }

    /// Calls `act` with this worker, if it is known.
    pub fn with(&mut self, id: WorkerId, act: impl FnOnce(&mut Worker)) {
        if let Some(worker) = self.get_mut(id) {
            act(worker);
        }
    }

    /// Makes each worker that has been idle since its last request return its free memory, once. The allocator itself
    /// returns pages only while a process allocates.
    pub fn trim_idle(&mut self, reaction: &mut Reaction) {
        for worker in self.iter_mut() {
            let has_served = worker.requests > worker.requests_at_trim;
            if has_served && worker.idle >= TRIM_AFTER && worker.is_ready() && worker.listens() {
                worker.requests_at_trim = worker.requests;
                reaction.push(Command::Worker(WorkerCommand::TrimMemory(worker.id)));
            }
        }
    }

    fn count(&self, matches: impl Fn(&Worker) -> bool) -> u32 {
        let count = self.iter().filter(|worker| matches(worker)).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use carat_policy::ReplacementReason;

    use super::*;
    use crate::state::processes::worker_stage::WorkerStage;
    use crate::state::tests::reaction;

    #[test]
    fn a_worker_gets_the_smallest_free_number() {
        let next_number = |taken: &[u32]| {
            let mut workers = Workers::default();
            for &number in taken {
                workers.insert(ready_worker(WorkerId { number, serial: 0 }));
            }
            workers.next_id().number
        };
        assert_eq!(next_number(&[]), 1);
        assert_eq!(next_number(&[1, 2]), 3);
        assert_eq!(next_number(&[2, 3]), 1);
        assert_eq!(next_number(&[1, 3]), 2);
    }

    #[test]
    fn a_worker_is_not_mistaken_for_the_previous_one_with_its_number() {
        let mut workers = Workers::default();
        let old = add(&mut workers);
        workers.remove(old);
        let new = add(&mut workers);
        assert_eq!(old.number, new.number);
        assert!(workers.get_mut(old).is_none());
        assert!(workers.remove(old).is_none());
        assert!(workers.get_mut(new).is_some());
    }

    #[test]
    fn a_retiring_worker_is_replaced_before_it_has_ended() {
        let mut workers = Workers::wanting(1);
        let id = add(&mut workers);
        assert_eq!(workers.missing(), 0);
        retire(&mut workers, id);
        assert_eq!(workers.missing(), 1);
    }

    #[test]
    fn a_replaced_worker_counts_as_serving_until_it_drains() {
        let mut workers = Workers::default();
        let id = add(&mut workers);
        let worker = workers.get_mut(id).expect("just inserted");
        worker.replacement = Some(ReplacementReason::Promotion);
        let retirements = |serving, draining| Retirements { serving, draining };
        assert_eq!(workers.retirements(), retirements(1, 0));
        retire(&mut workers, id);
        assert_eq!(workers.retirements(), retirements(0, 1));
    }

    fn add(workers: &mut Workers) -> WorkerId {
        let id = workers.next_id();
        workers.insert(ready_worker(id));
        id
    }

    fn retire(workers: &mut Workers, id: WorkerId) {
        let deadline = Instant::now();
        workers.get_mut(id).expect("known").stage = WorkerStage::Retiring { deadline };
    }

    fn ready_worker(id: WorkerId) -> Worker {
        let mut worker = Worker::forked(id, 1, &reaction());
        worker.pid = Some(42);
        worker.boot = WorkerBoot::Done;
        worker.stage = WorkerStage::Ready;
        worker
    }
}
