//! Which worker goes when memory is short, and whether there is memory for another.

use carat_policy::{ByteSize, MemoryTrend, ReplacementAdvice, ReplacementReason, WorkerLoad};

use super::State;
use super::reaction::Reaction;
use super::worker::{Worker, WorkerMemory};
use crate::dispatch::WorkerId;
use crate::supervise::command::{Command, MemorySubject, MemorySubjects};
use crate::supervise::event::MemoryReading;
use crate::supervise::log_line::LogLine;

/// A worker that exceeds its limit with fewer requests did not grow: its replacement will soon exceed it too.
const LEAST_REQUESTS: u64 = 16;

/// A worker with this many requests will hardly grow.
const GROWN_REQUESTS: u64 = 100;

/// A process whose memory is unknown.
const UNREAD: WorkerLoad = WorkerLoad {
    private: None,
    is_grown: false,
};

impl State {
    /// Has the memory of all processes read when it is due.
    pub(super) fn read_memory(&mut self, reaction: &mut Reaction) {
        let mold = self.molds.ready();
        let is_empty = mold.is_none() && self.workers.is_empty();
        if is_empty || !self.memory.is_due(reaction.now) {
            return;
        }
        let subjects = MemorySubjects {
            mold: mold.and_then(|mold| Some((mold.generation, mold.pid?))),
            workers: self.workers.iter().filter_map(subject).collect(),
            others: self.other_molds().filter_map(|mold| mold.pid).collect(),
        };
        self.memory.begin_reading(&subjects);
        reaction.push(Command::ReadMemory(subjects));
    }

    /// The memory of all processes was read.
    pub(super) fn memory_read(&mut self, reading: &MemoryReading, reaction: &mut Reaction) {
        let others = self.upgrades.predecessor_bytes;
        self.memory.record(reading, others, reaction);
        if let Some((generation, anonymous)) = reading.mold {
            if let Some(mold) = self.molds.current_mut(generation) {
                mold.anonymous = Some(anonymous);
            }
        }
        self.record_workers(reading, reaction);
        let limit = reaction.limits.worker_memory;
        let known = self.workers.iter().filter_map(|worker| worker.memory);
        let approaches = known.filter_map(|memory| Some(memory.private.approach(limit?)));
        self.memory.end_reading(reading, approaches);
        if self.may_replace_heavy() {
            self.relieve(reaction);
        }
    }

    /// How many more workers fit. Those that stay may still grow, and processes that no reading includes count as one
    /// worker each.
    pub(super) fn room(&self) -> u32 {
        let mold = self.molds.current.as_ref();
        if mold.is_some_and(|mold| mold.is_ready && !self.memory.includes_mold(mold.pid)) {
            return 0;
        }
        let workers = self.workers.iter();
        let reserving = workers.filter(|worker| worker.stays() || worker.memory.is_none());
        let others = self.other_molds();
        let unread = others.filter(|mold| !self.memory.includes(mold.pid));
        let unread = unread.map(|_| UNREAD);
        let loads: Vec<WorkerLoad> = reserving.map(Worker::load).chain(unread).collect();
        let anonymous = mold.and_then(|mold| mold.anonymous);
        self.memory
            .room(&loads, anonymous, self.is_second_mold_unread())
    }

    /// Whether a restart loads a mold whose full size no reading shows yet.
    fn is_second_mold_unread(&self) -> bool {
        let candidate = self.molds.candidate.as_ref();
        let is_read = candidate.is_some_and(|it| it.mold.is_ready && self.memory.is_fresh());
        self.molds.is_restarting() && !is_read
    }

    /// How many of the `missing` workers may be forked now. One worker always runs, whatever the budget.
    pub(super) fn affordable(&mut self, missing: u32, reaction: &mut Reaction) -> u32 {
        if missing == 0 {
            self.memory.end_shortage();
            return 0;
        }
        let staying = self.workers.staying();
        let allowed = self.room().max(u32::from(staying == 0)).min(missing);
        let is_changing = !self.workers.retirements().is_empty()
            || self.workers.booting() > 0
            || !self.memory.is_current(reaction.now);
        if allowed == 0 && !is_changing {
            self.memory.warn_of_shortage(staying, self.wanted, reaction);
        }
        allowed
    }

    /// Whether no worker fits beside those that serve.
    pub(super) fn is_full(&self) -> bool {
        self.workers.booting() == 0 && self.workers.serving() > 0 && self.room() == 0
    }

    fn may_replace_heavy(&self) -> bool {
        self.workers.retirements().allow_heavy(self.wanted)
    }

    fn record_workers(&mut self, reading: &MemoryReading, reaction: &Reaction) {
        let limit = reaction.limits.worker_memory.unwrap_or(u64::MAX);
        let ready = reading.workers.iter().filter(|(it, _)| it.is_ready);
        for (subject, private) in ready {
            if let Some(worker) = self.workers.get_mut(subject.worker) {
                let before = worker.memory.map(|memory| memory.private);
                worker.memory = Some(WorkerMemory {
                    private: MemoryTrend::after(before, *private, limit, reading.at),
                    is_grown: subject.is_grown,
                });
            }
        }
    }

    /// Replaces a worker that exceeds `worker_memory`, or the largest when all together exceed the budget.
    fn relieve(&mut self, reaction: &mut Reaction) {
        let largest = self.workers.largest();
        let Some((id, memory)) = largest.and_then(|worker| Some((worker.id, worker.memory?)))
        else {
            return;
        };
        if memory.private.is_too_much() {
            self.relieve_worker(id, &memory.private, reaction);
        } else {
            self.memory.worker_backoff.recover(reaction.now);
        }
        if self.may_replace_heavy() {
            self.relieve_all(id, reaction);
        }
    }

    fn relieve_worker(&mut self, id: WorkerId, private: &MemoryTrend, reaction: &mut Reaction) {
        let Some(limit) = reaction.limits.worker_memory else {
            return;
        };
        let (limit, bytes) = (ByteSize(limit), ByteSize(private.bytes));
        let requests = self.workers.get(id).map_or(0, |worker| worker.requests);
        let advice = if private.began_too_much() || requests < LEAST_REQUESTS {
            self.memory.worker_backoff.advise(reaction.now)
        } else {
            ReplacementAdvice::Replace
        };
        match advice {
            ReplacementAdvice::Replace => {
                let private = bytes;
                self.replace(id, ReplacementReason::Memory { private, limit }, reaction);
            }
            ReplacementAdvice::Warn => {
                let message = "workers soon exceed worker_memory: it is too small";
                let line = LogLine::warn(message).text("private", bytes);
                reaction.log(line.text("limit", limit));
            }
            ReplacementAdvice::Wait => {}
        }
    }

    /// The largest of several workers goes, and is not replaced before there is room. A single worker is replaced if
    /// that helps. None goes if it is enough that the draining ones end.
    fn relieve_all(&mut self, largest: WorkerId, reaction: &mut Reaction) {
        let totals = self.memory.totals;
        let Some(totals) = totals.filter(|totals| totals.used.is_too_much()) else {
            return;
        };
        let left = totals
            .used
            .bytes
            .saturating_sub(self.workers.leaving_bytes());
        if self.workers.booting() > 0 || !totals.budget.is_over(left) {
            return;
        }
        let advice = if self.workers.serving() > 1 {
            ReplacementAdvice::Replace
        } else {
            self.memory.budget_backoff.advise(reaction.now)
        };
        match advice {
            ReplacementAdvice::Replace => {
                let used = ByteSize(totals.used.bytes);
                let limit = ByteSize(totals.budget.limit);
                self.replace(largest, ReplacementReason::Budget { used, limit }, reaction);
                self.memory.restart_trend();
            }
            ReplacementAdvice::Warn => {
                let line = LogLine::warn("one worker alone exceeds the memory budget (memory)");
                reaction.log(totals.describe(line));
            }
            ReplacementAdvice::Wait => {}
        }
    }
}

fn subject(worker: &Worker) -> Option<MemorySubject> {
    Some(MemorySubject {
        worker: worker.id,
        pid: worker.pid?,
        is_ready: worker.is_ready(),
        is_grown: worker.requests >= GROWN_REQUESTS,
    })
}
