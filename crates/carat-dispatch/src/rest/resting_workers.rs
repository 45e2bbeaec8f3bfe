use std::cell::{Cell, RefCell};
use std::mem::take;
use std::time::{Duration, Instant};

use carat_log::WorkerId;
use carat_policy::{
    CollectionNeed, RestBalance, RestStep, Rotation, ServingWorker, pause_after_rest,
};
use carat_wire::{Collection, FullReason, HasteReason};

use crate::lane_choice::LaneChoice;
use crate::lanes::{Lane, LaneState};
use crate::rest::collection_totals::CollectionTotals;

/// The workers that have ever needed a full garbage collection, and the progress of their rests.
#[derive(Debug, Default)]
pub(crate) struct RestingWorkers {
    known: RefCell<Vec<WorkerRest>>,
    totals: Cell<CollectionTotals>,
    balance: Cell<RestBalance>,
    /// How many processors the workers share.
    processors: Cell<u32>,
    /// When a rest last ended.
    ended: Cell<Option<Instant>>,
}

/// The need of one worker, and its rest.
#[derive(Debug)]
struct WorkerRest {
    worker: WorkerId,
    need: Option<CollectionNeed>,
    /// Why the collection is needed, or was.
    reason: FullReason,
    rests_since: Option<Instant>,
    /// When the worker was told to collect.
    told: Option<Instant>,
    /// Whether the worker still ran requests at that time.
    is_crowded: bool,
    /// How long the collection of this rest took.
    took: Duration,
    not_before: Option<Instant>,
}

/// A step in the rest of a worker.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkerStep {
    pub(crate) worker: WorkerId,
    pub(crate) step: RestStep,
    /// Whether the worker ends its rest without a reply.
    pub(crate) is_silent: bool,
}

impl RestingWorkers {
    /// The collections so far.
    pub(crate) fn totals(&self) -> CollectionTotals {
        self.totals.get()
    }

    /// Whether this worker has ever said that a collection is due.
    pub(crate) fn knows(&self, worker: WorkerId) -> bool {
        self.known.borrow().iter().any(|it| it.worker == worker)
    }

    /// Notes that a worker needs a collection, which is urgent if it exceeds its memory. An earlier need keeps its time,
    /// its reason, and its load.
    pub(crate) fn need(&self, worker: WorkerId, reason: FullReason, load: u8, now: Instant) {
        let mut known = self.known.borrow_mut();
        let found = known.iter_mut().find(|it| it.worker == worker);
        let Some(rest) = found else {
            return known.push(WorkerRest::of(worker, reason, load, now));
        };
        let latest = need_for(reason, load, now);
        if let Some(need) = &mut rest.need {
            need.is_urgent |= latest.is_urgent;
        } else {
            (rest.need, rest.reason) = (Some(latest), reason);
        }
    }

    /// Notes that a request waited for collections. If one of them was a full collection that Ruby began by itself, the
    /// worker needs no other. `is_alone` says whether the worker is the only one.
    pub(crate) fn note_collection(&self, worker: WorkerId, collection: Collection, is_alone: bool) {
        let haste = haste(collection, is_alone);
        self.count(|totals| {
            totals.waited_requests += 1;
            if collection.full > 0 {
                let (full, reason) = (collection.full.into(), collection.reason);
                let took = Duration::from_micros(collection.micros.into());
                (totals.within_requests).add(full, took, FullReason::of_byte(reason));
                totals.haste.add(full, haste);
            }
        });
        if collection.full > 0 {
            self.with(worker, |rest| rest.need = None);
        }
    }

    /// Notes that a worker has collected as it was told. `took` is zero if the worker manages its garbage collector
    /// itself. A reply that comes late counts, too.
    pub(crate) fn note_collected(&self, worker: WorkerId, took: Duration) {
        let found = self.with(worker, |rest| {
            (rest.need, rest.took) = (None, took);
            let is_crowded = rest.told.take().is_none() || rest.is_crowded;
            (is_crowded, rest.reason)
        });
        if !took.is_zero() {
            let (is_crowded, reason) = found.unwrap_or((true, FullReason::Other));
            self.count(|totals| {
                let group = if is_crowded {
                    &mut totals.beside_requests
                } else {
                    &mut totals.between_requests
                };
                group.add(1, took, reason);
            });
        }
    }

    /// The worker has no lane any more.
    pub(crate) fn forget(&self, worker: WorkerId, now: Instant) {
        self.end_rest(worker, now);
        self.known.borrow_mut().retain(|it| it.worker != worker);
    }

    /// Leaves a time in which the server stood still out of the rests that last.
    pub(crate) fn note_freeze(&self, duration: Duration) {
        for rest in self.known.borrow_mut().iter_mut() {
            for since in [&mut rest.rests_since, &mut rest.told]
                .into_iter()
                .flatten()
            {
                *since += duration;
            }
        }
    }

    /// Returns the next step that is due, and notes it as taken. `waiting`: how many requests wait for a worker.
    pub(crate) fn next_step(
        &self,
        lanes: &LaneChoice,
        waiting: usize,
        now: Instant,
    ) -> Option<WorkerStep> {
        if self.known.borrow().iter().all(WorkerRest::is_over) {
            return None;
        }
        let workers = self.serving(lanes, now);
        let rotation = Rotation {
            workers: &workers,
            waiting,
            processors: self.processors.get(),
            rests_pay: self.balance.get().rests_pay(now),
            now,
        };
        let step = rotation.next_step()?;
        let (RestStep::Begin(serial)
        | RestStep::Collect(serial)
        | RestStep::Decline(serial)
        | RestStep::End(serial)) = step;
        let running = workers.iter().find(|it| it.serial == serial)?.running;
        let mut known = self.known.borrow_mut();
        let rest = known.iter_mut().find(|it| it.worker.serial == serial)?;
        let is_silent = matches!(step, RestStep::End(_)) && rest.told.is_some();
        match step {
            RestStep::Begin(_) => rest.rests_since = Some(now),
            RestStep::Collect(_) => {
                rest.told = Some(now);
                rest.is_crowded = running > 0;
            }
            RestStep::Decline(_) => rest.need = None,
            RestStep::End(_) if rest.told.take().is_some() => rest.need = None,
            RestStep::End(_) => {}
        }
        let worker = rest.worker;
        Some(WorkerStep {
            worker,
            step,
            is_silent,
        })
    }

    /// Notes how many processors the workers share.
    pub(crate) fn note_processors(&self, processors: u32) {
        self.processors.set(processors);
    }

    /// Notes how many requests wait at the end of a rest, for the decision whether rests pay. `slots` is how many
    /// requests the worker serves at once.
    pub(crate) fn weigh_rest(&self, waiting: usize, slots: usize, now: Instant) {
        let mut balance = self.balance.get();
        balance.note_rest(waiting, slots, now);
        self.balance.set(balance);
    }

    /// The part of a wait since `arrived` that no rest explains; `None` while a worker rests. After its rest, the worker
    /// serves what has waited, so that these waits ask for no further worker.
    pub(crate) fn wait_beyond_rests(&self, arrived: Instant, now: Instant) -> Option<Duration> {
        let known = self.known.borrow();
        let is_full = known.iter().all(|it| it.rests_since.is_none());
        let since = self.ended.get().map_or(arrived, |at| at.max(arrived));
        is_full.then(|| now.saturating_duration_since(since))
    }

    /// Ends the rest of a worker. False if the worker did not rest.
    pub(crate) fn end_rest(&self, worker: WorkerId, now: Instant) -> bool {
        let lasted = self.with(worker, |rest| {
            let lasted = now.saturating_duration_since(rest.rests_since.take()?);
            rest.not_before = Some(now + pause_after_rest(lasted, take(&mut rest.took)));
            Some(lasted)
        });
        let Some(lasted) = lasted.flatten() else {
            return false;
        };
        self.ended.set(Some(now));
        self.count(|totals| totals.end_rest(lasted));
        true
    }

    /// The workers that take requests, or rest.
    fn serving(&self, lanes: &LaneChoice, now: Instant) -> Vec<ServingWorker> {
        let known = self.known.borrow();
        let mut workers: Vec<ServingWorker> = Vec::new();
        for lane in lanes.list() {
            let state = lane.state();
            if !matches!(state, LaneState::Open | LaneState::Resting) {
                continue;
            }
            let serial = lane.tag.worker.serial;
            let found = workers.iter().position(|it| it.serial == serial);
            let index = found.unwrap_or_else(|| {
                let rest = known.iter().find(|it| it.worker.serial == serial);
                workers.push(serving_worker(serial, rest));
                workers.len() - 1
            });
            add_lane(&mut workers[index], &lane, now);
        }
        workers
    }

    fn with<T>(&self, worker: WorkerId, act: impl FnOnce(&mut WorkerRest) -> T) -> Option<T> {
        let mut known = self.known.borrow_mut();
        known.iter_mut().find(|it| it.worker == worker).map(act)
    }

    fn count(&self, add: impl FnOnce(&mut CollectionTotals)) {
        let mut totals = self.totals.get();
        add(&mut totals);
        self.totals.set(totals);
    }
}

impl WorkerRest {
    fn of(worker: WorkerId, reason: FullReason, load: u8, now: Instant) -> WorkerRest {
        WorkerRest {
            worker,
            need: Some(need_for(reason, load, now)),
            reason,
            rests_since: None,
            told: None,
            is_crowded: false,
            took: Duration::ZERO,
            not_before: None,
        }
    }

    /// Whether the worker needs no collection and does not rest.
    fn is_over(&self) -> bool {
        self.need.is_none() && self.rests_since.is_none() && self.told.is_none()
    }
}

/// Why a collection did not wait. The worker does not know that it is the only one.
fn haste(collection: Collection, is_alone: bool) -> HasteReason {
    match HasteReason::of_byte(collection.haste) {
        HasteReason::Bound if is_alone => HasteReason::Alone,
        told => told,
    }
}

fn need_for(reason: FullReason, load: u8, now: Instant) -> CollectionNeed {
    CollectionNeed {
        since: now,
        is_urgent: reason == FullReason::WorkerMemory,
        load,
    }
}

/// The state of a worker for the choice of the next step, before its lanes are added.
fn serving_worker(serial: u64, rest: Option<&WorkerRest>) -> ServingWorker {
    let worker = ServingWorker {
        idle: Duration::MAX,
        rate: 0,
        is_able: false,
        ..ServingWorker::new(serial)
    };
    let Some(rest) = rest else { return worker };
    ServingWorker {
        need: rest.need,
        rests_since: rest.rests_since,
        told: rest.told,
        not_before: rest.not_before,
        ..worker
    }
}

fn add_lane(worker: &mut ServingWorker, lane: &Lane, now: Instant) {
    worker.running += lane.disturbed(now);
    worker.idle = worker.idle.min(lane.idle(now));
    worker.rate += lane.usage.rate(now);
    worker.is_able |= lane.state() == LaneState::Open && !lane.stall.is_on();
}
