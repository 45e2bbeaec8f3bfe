//! How the number of workers follows the load, and how one worker replaces another.

use std::time::Duration;

use carat_policy::{Demand, Elastic, ReplacementReason};

use super::State;
use super::reaction::Reaction;
use super::worker::Worker;
use crate::dispatch::WorkerId;
use crate::supervise::command::Command;
use crate::supervise::event::Tick;
use crate::supervise::log_line::LogLine;

/// How long a worker has no request before it returns its free memory.
const TRIM_AFTER: Duration = Duration::from_secs(10);

impl State {
    /// Asks for more workers, or fewer, and finds those to replace. Called once a tick.
    pub(super) fn follow_load(&mut self, tick: &Tick, reaction: &mut Reaction) {
        self.grow(tick, reaction);
        self.shrink(reaction);
        self.retire_surplus(reaction);
        self.replace_worn(reaction);
        self.trim_idle(reaction);
        self.keep_reforking(reaction);
    }

    /// Makes each worker that has served and now rests return its free memory, once. The allocator returns pages only
    /// while a process allocates.
    fn trim_idle(&mut self, reaction: &mut Reaction) {
        for worker in self.workers.iter_mut() {
            let has_served = worker.requests > worker.requests_at_trim;
            if has_served && worker.idle >= TRIM_AFTER && worker.is_ready() && worker.listens() {
                worker.requests_at_trim = worker.requests;
                reaction.push(Command::TrimMemory(worker.id));
            }
        }
    }

    /// From now on the number of workers follows the load between these bounds.
    pub(super) fn scale(&mut self, elastic: Elastic, reaction: &mut Reaction) {
        self.limits.elastic = elastic;
        reaction.limits.elastic = elastic;
        self.wanted = self.wanted.clamp(elastic.min, elastic.max);
        let line = LogLine::info("workers scaled").number("min", elastic.min);
        let line = line.number("max", elastic.max);
        reaction.log(line.number("wanted", self.wanted));
    }

    /// Marks a worker for replacement: it serves until as many others serve as are wanted. False if the worker does not
    /// serve, or has to wait for others that are being replaced.
    pub(super) fn replace(
        &mut self,
        id: WorkerId,
        reason: ReplacementReason,
        reaction: &mut Reaction,
    ) -> bool {
        if !self.workers.retirements().allow(&reason, self.wanted) {
            return false;
        }
        let Some(worker) = self.workers.get_mut(id).filter(|worker| worker.is_ready()) else {
            return false;
        };
        worker.replacement = Some(reason);
        let line = worker.identify(LogLine::info("worker will be replaced"));
        let line = line.text("reason", reason);
        let sizes = reason.sizes().into_iter();
        reaction.log(sizes.fold(line, |line, (name, size)| line.text(name, size)));
        true
    }

    /// Drains the worker that is to be replaced: when its successor serves, or at once if there is no memory for a
    /// successor beside it. A worker does not become the mold in that case, because for a moment one would be missing.
    pub(super) fn succeed(&mut self, reaction: &mut Reaction) {
        let is_short = self.workers.serving() < self.wanted;
        if is_short && !self.is_full() {
            return;
        }
        let mut workers = self.workers.iter_mut();
        let leaver = workers.find(|worker| worker.replacement.is_some() && worker.is_ready());
        let Some(worker) = leaver else { return };
        let id = worker.id;
        if is_short && worker.is_promoted() {
            worker.forgo_promotion();
            let cause = "no memory for its successor (memory)";
            self.refork.candidate_fails(worker, cause, reaction);
            return;
        }
        drop(workers);
        self.retire(id, "worker is replaced", reaction);
    }

    fn grow(&mut self, tick: &Tick, reaction: &mut Reaction) {
        let demand = Demand {
            queue_time: tick.queue_time,
            waiting: tick.waiting,
            slots: reaction.limits.slots,
            booting: self.workers.booting() + self.workers.missing(self.wanted),
        };
        let affordable = self.workers.staying().saturating_add(self.room());
        let asked = reaction.limits.elastic.grown(self.wanted, &demand);
        let wanted = asked.min(affordable.max(self.wanted));
        if wanted > self.wanted {
            self.wanted = wanted;
            let line = LogLine::info("more workers").number("workers", wanted);
            let line = line.number("waiting", tick.waiting as u64);
            reaction.log(line.milliseconds("queue_ms", tick.queue_time));
        }
    }

    /// Lowers the wanted number by one when a worker has been idle too long, and stops that worker if more than the
    /// wanted number are running.
    fn shrink(&mut self, reaction: &mut Reaction) {
        // A worker that boots cannot stand in yet for the one that would end.
        if !reaction.limits.elastic.may_shrink(self.wanted) || self.workers.booting() > 0 {
            return;
        }
        let limit = reaction.limits.worker_idle_timeout;
        // A worker with tunnels is in use, however long ago they began.
        let is_idle = |worker: &&Worker| worker.tunnels == 0 && worker.idle >= limit;
        let Some(id) = self.workers.coldest().filter(is_idle).map(|it| it.id) else {
            return;
        };
        self.wanted -= 1;
        if self.workers.staying() > self.wanted {
            self.retire(id, "idle worker ends", reaction);
        } else {
            reaction.log(LogLine::info("fewer workers").number("wanted", self.wanted));
        }
    }

    /// Ends the workers that are too many after the bounds were lowered, the coldest first.
    pub(super) fn retire_surplus(&mut self, reaction: &mut Reaction) {
        if self.restarts.is_replacing() {
            // The surplus is of old code, and ends first.
            return;
        }
        while self.workers.serving() > self.wanted {
            let Some(id) = self.workers.coldest().map(|worker| worker.id) else {
                return;
            };
            self.retire(id, "surplus worker ends", reaction);
        }
    }

    /// A worker could not open the descriptors of a request. It has collected its garbage since. When that does not
    /// help, its application leaks files, and it is replaced.
    pub(super) fn descriptors_lost(&mut self, id: WorkerId, reaction: &mut Reaction) {
        let Some(worker) = self.workers.get_mut(id) else {
            return;
        };
        if worker.lost_descriptors {
            self.replace(id, ReplacementReason::OpenFiles, reaction);
        } else {
            worker.lost_descriptors = true;
            let line = LogLine::warn("worker has too many files open to receive a request");
            reaction.log(worker.identify(line));
        }
    }

    fn replace_worn(&mut self, reaction: &mut Reaction) {
        let wear = reaction.limits.wear;
        let worn = self.workers.ready().find_map(|worker| {
            let age = worker.age(reaction.now);
            let reason = wear.reason(worker.id.serial, worker.requests, age)?;
            Some((worker.id, reason))
        });
        if let Some((id, reason)) = worn {
            self.replace(id, reason, reaction);
        }
    }
}
