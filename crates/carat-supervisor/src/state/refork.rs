//! How a worker becomes the mold of the next generation. The worker is asked whether it could; its successor serves; it
//! is drained and told to be the mold; and it takes over when it is ready. Then the workers of older generations are
//! replaced.

use std::time::Instant;

use carat_policy::{ReforkRule, Reforks, ReplacementReason, WorkerUsage};

use super::next_to_replace;
use super::processes::Processes;
use super::processes::leaving_molds::LeavingKind;
use super::processes::molds::{MoldCandidate, MoldOrigin};
use super::processes::worker::Worker;
use super::processes::workers::Workers;
use super::reaction::Reaction;
use crate::command::{Command, WorkerCommand};
use crate::log_line::LogLine;
use carat_log::WorkerId;

/// The decision when a worker becomes the mold, and which.
#[derive(Debug)]
pub(super) struct Refork {
    /// The rule of the current settings.
    pub(super) rule: ReforkRule,
    reforks: Reforks,
    asked: Option<Question>,
    /// Why the last worker that was to become the mold did not become it.
    refusal: Option<String>,
    /// Private memory of the worker that is to be the mold, when it was chosen.
    promoted_private: Option<u64>,
}

/// The question to a worker whether it could be the mold.
#[derive(Debug, Clone, Copy)]
struct Question {
    worker: WorkerId,
    /// The time until which the worker may reply.
    deadline: Instant,
}

impl Refork {
    pub(super) fn new(rule: ReforkRule, now: Instant) -> Refork {
        Refork {
            reforks: Reforks::new(rule.clone(), now),
            rule,
            asked: None,
            refusal: None,
            promoted_private: None,
        }
    }

    /// Why the last worker that was to become the mold did not become it; `None` once a worker has.
    pub(super) fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// Continues a refork, or decides whether to begin one. Called once a tick while no worker is promoted.
    pub(super) fn advance(
        &mut self,
        may_begin: bool,
        processes: &mut Processes,
        reaction: &mut Reaction,
    ) {
        // No worker is promoted: the last one has ended in another way.
        self.promoted_private = None;
        if !may_begin {
            return;
        }
        match self.asked {
            Some(asked) => self.await_reply(asked, &mut processes.workers, reaction),
            None => self.choose(processes, reaction),
        }
    }

    fn choose(&mut self, processes: &Processes, reaction: &mut Reaction) {
        let Some(generation) = processes.molds.ready().map(|mold| mold.generation) else {
            return;
        };
        // The successor of the worker must fit beside all other processes.
        if processes.room() == 0 {
            return;
        }
        // All workers share from then on what the new mold has leaked, so a large worker is not chosen.
        let limit = reaction.limits.worker_memory.unwrap_or(u64::MAX) / 2;
        // A worker with tunnels is not chosen: they would have to end, and so would the threads that serve them.
        let is_fit =
            |worker: &&Worker| worker.stays() && worker.tunnels == 0 && worker.private() < limit;
        let fit: Vec<_> = processes.workers.ready().filter(is_fit).collect();
        let usages: Vec<_> = fit.iter().map(|worker| usage(worker)).collect();
        let chosen = self.reforks.choose(reaction.now, generation, &usages);
        let Some(worker) = fit.iter().find(|worker| Some(worker.id.serial) == chosen) else {
            return;
        };
        // The worker is asked before it drains. If it has threads that do not survive a fork, it continues to serve.
        self.asked = Some(Question {
            worker: worker.id,
            deadline: reaction.now + reaction.limits.boot_timeout,
        });
        reaction.push(Command::Worker(WorkerCommand::AskForkSafety(worker.id)));
    }

    /// Forgets the question if the worker ends, and gives up a worker that does not reply.
    fn await_reply(&mut self, asked: Question, workers: &mut Workers, reaction: &mut Reaction) {
        let worker = workers.get_mut(asked.worker);
        match worker.filter(|worker| worker.stays()) {
            None => self.asked = None,
            Some(worker) if reaction.now >= asked.deadline => {
                self.asked = None;
                let limit = reaction.limits.boot_timeout;
                let cause =
                    format!("it was asked and did not reply within {limit:?} (boot_timeout)");
                self.give_up(worker, &cause, reaction);
            }
            Some(_) => {}
        }
    }

    /// Takes the reply of the worker that was asked, and returns the worker. `None` for a worker that was not asked, or
    /// that ends.
    pub(super) fn take_reply<'a>(
        &mut self,
        id: WorkerId,
        workers: &'a mut Workers,
    ) -> Option<&'a mut Worker> {
        self.asked.take_if(|asked| asked.worker == id)?;
        workers.get_mut(id).filter(|worker| worker.stays())
    }

    /// Promotes the worker that has said that it could be the mold. If there is no memory for its successor by now,
    /// nothing happens, and a worker is asked again later.
    pub(super) fn begin(
        &mut self,
        id: WorkerId,
        processes: &mut Processes,
        reaction: &mut Reaction,
    ) {
        let molds = &processes.molds;
        let is_free = molds.candidate.is_none() && molds.ready().is_some();
        let may_replace = is_free && processes.room() > 0;
        let private = processes.workers.get(id).map(Worker::private);
        let workers = &mut processes.workers;
        let reason = ReplacementReason::Promotion;
        if may_replace && next_to_replace::mark(workers, id, reason, reaction) {
            self.promoted_private = private;
        }
    }

    /// Gives up a worker that cannot be the mold, or that could not be drained for it.
    pub(super) fn give_up(&mut self, worker: &mut Worker, cause: &str, reaction: &mut Reaction) {
        worker.forgo_promotion();
        self.refusal = Some(cause.to_owned());
        let line = worker.identify(LogLine::warn("worker did not become the mold"));
        reaction.log(line.text("cause", cause));
        self.promoted_private = None;
        self.reforks.failed(reaction.now);
    }

    /// Gives up the workers that do not finish their requests in time.
    pub(super) fn give_up_overdue(&mut self, workers: &mut Workers, reaction: &mut Reaction) {
        for worker in workers.iter_mut() {
            if worker.is_promoted() && worker.is_overdue(reaction.now) {
                self.give_up(worker, "its requests did not finish in time", reaction);
            }
        }
    }

    /// Makes the candidate the mold.
    pub(super) fn take_over(&mut self, processes: &mut Processes, reaction: &mut Reaction) {
        let Some(MoldCandidate { mold, origin }) = processes.molds.candidate.take() else {
            return;
        };
        if let MoldOrigin::Worker(worker) = origin {
            reaction.push(Command::Worker(WorkerCommand::CloseLanes(worker.id)));
        }
        let private = self.promoted_private.take().unwrap_or_default();
        self.refusal = None;
        self.reforks.succeeded(reaction.now, private);
        processes.take_over(mold, reaction);
    }

    /// Ends a candidate that cannot be the mold; the current mold stays. `is_final` says whether no other worker of its
    /// generation can be the mold either.
    pub(super) fn candidate_failed(
        &mut self,
        cause: &str,
        is_final: bool,
        processes: &mut Processes,
        reaction: &mut Reaction,
    ) {
        let Some(MoldCandidate { mold, origin }) = processes.molds.candidate.take() else {
            return;
        };
        let MoldOrigin::Worker(worker) = origin else {
            return;
        };
        reaction.push(Command::Worker(WorkerCommand::CloseLanes(worker.id)));
        self.refusal = Some(cause.to_owned());
        reaction.log(
            LogLine::warn("worker did not become the mold")
                .number("worker", worker.id.number)
                .number("gen", worker.generation)
                .number("pid", mold.pid.unwrap_or_default())
                .number("next_gen", mold.generation)
                .text("cause", cause),
        );
        self.promoted_private = None;
        match processes.molds.current.as_ref().filter(|_| is_final) {
            Some(mold) => self.reforks.refused(reaction.now, mold.generation),
            None => self.reforks.failed(reaction.now),
        }
        let deadline = reaction.now + reaction.limits.shutdown_timeout;
        let refused = LeavingKind::Refused(worker);
        processes.molds.leaving.add(mold, refused, deadline);
    }
}

fn usage(worker: &Worker) -> WorkerUsage {
    WorkerUsage {
        serial: worker.id.serial,
        requests: worker.requests_since_takeover(),
        private: worker.private(),
    }
}
