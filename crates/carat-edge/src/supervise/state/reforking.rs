//! How a worker becomes the mold of the next generation: it says that it could, its successor serves, it is drained, told
//! to be the mold, and takes over when it is ready. Then the workers of older generations are replaced.

use std::time::Duration;

use carat_policy::{ReplacementReason, WorkerUsage};

use super::State;
use super::molds::{LeavingKind, MoldCandidate, MoldOrigin};
use super::reaction::Reaction;
use super::refork::AskedWorker;
use super::worker::Worker;
use crate::dispatch::WorkerId;
use crate::supervise::command::Command;
use crate::supervise::exit_status::ExitStatus;
use crate::supervise::log_line::LogLine;
use crate::supervise::ruby_process::RubyProcess;

impl State {
    /// Continues a refork, or decides whether to begin one. Called once a tick.
    pub(super) fn keep_reforking(&mut self, reaction: &mut Reaction) {
        self.fail_late_candidate(reaction);
        self.molds.kill_overdue(reaction);
        if self.molds.candidate.is_some() || self.workers.iter().any(Worker::is_promoted) {
            return;
        }
        // A promoted worker ended in another way.
        self.refork.promoted_private = None;
        let oldest = self.refork.oldest_generation;
        let mut ready = self.workers.ready();
        let outdated = ready.find(|worker| worker.generation < oldest);
        let outdated = outdated.map(|worker| worker.id);
        drop(ready);
        match outdated {
            Some(id) if self.restarts.is_replacing() => {
                self.replace(id, ReplacementReason::Restart, reaction);
            }
            Some(id) => {
                self.replace(id, ReplacementReason::Outdated, reaction);
            }
            None if self.restarts.current.is_some() => {}
            None if self.refork.asked.is_some() => self.await_fork_safety(reaction),
            None => self.choose_candidate(reaction),
        }
    }

    fn choose_candidate(&mut self, reaction: &mut Reaction) {
        let Some(generation) = self.molds.ready().map(|mold| mold.generation) else {
            return;
        };
        // Its successor must fit beside all others.
        if self.room() == 0 {
            return;
        }
        // Whatever a mold leaked, all of its workers share from then on.
        let limit = reaction.limits.worker_memory.unwrap_or(u64::MAX) / 2;
        let fit = self.workers.ready().filter(|worker| worker.stays());
        // Tunnels would have to end, and so would the threads that serve them.
        let fit = fit.filter(|worker| worker.tunnels == 0 && worker.private() < limit);
        let fit: Vec<_> = fit.collect();
        let usages: Vec<_> = fit.iter().map(|worker| usage(worker)).collect();
        let chosen = self
            .refork
            .reforks
            .choose(reaction.now, generation, &usages);
        let Some(worker) = fit.iter().find(|worker| Some(worker.id.serial) == chosen) else {
            return;
        };
        // Threads that no fork survives cost a question, and no warm worker.
        self.refork.asked = Some(AskedWorker {
            id: worker.id,
            deadline: reaction.now + reaction.limits.boot_timeout,
        });
        reaction.push(Command::AskForkSafety(worker.id));
    }

    /// Forgets a worker that ends, and gives up one that does not reply.
    fn await_fork_safety(&mut self, reaction: &mut Reaction) {
        let Some(AskedWorker { id, deadline }) = self.refork.asked else {
            return;
        };
        match self.workers.get_mut(id).filter(|worker| worker.stays()) {
            None => self.refork.asked = None,
            Some(worker) if reaction.now >= deadline => {
                self.refork.asked = None;
                let limit = reaction.limits.boot_timeout;
                let cause =
                    format!("it was asked and did not reply within {limit:?} (boot_timeout)");
                self.refork.candidate_fails(worker, &cause, reaction);
            }
            Some(_) => {}
        }
    }

    /// The worker that was asked replied.
    pub(super) fn fork_safety(
        &mut self,
        id: WorkerId,
        result: Result<(), String>,
        reaction: &mut Reaction,
    ) {
        if self.refork.asked.is_none_or(|asked| asked.id != id) {
            return;
        }
        self.refork.asked = None;
        let Some(worker) = self.workers.get_mut(id).filter(|worker| worker.stays()) else {
            return;
        };
        if let Err(cause) = result {
            return self.refork.candidate_fails(worker, &cause, reaction);
        }
        let private = worker.private();
        // A restart may have begun, or others may have taken the memory: the question is asked again.
        let is_free = self.restarts.current.is_none() && self.molds.candidate.is_none();
        let may_replace = is_free && self.molds.ready().is_some() && self.room() > 0;
        if may_replace && self.replace(id, ReplacementReason::Promotion, reaction) {
            self.refork.promoted_private = Some(private);
        }
    }

    /// The worker's lanes are empty: it is told to be the mold.
    pub(super) fn promote(&mut self, id: WorkerId, reaction: &mut Reaction) {
        if let Some(worker) = self.workers.remove(id) {
            self.molds.promote(&worker, reaction);
        }
    }

    /// The candidate is the mold now, and the one before it ends.
    pub(super) fn take_over(&mut self, reaction: &mut Reaction) {
        let Some(MoldCandidate { mut mold, origin }) = self.molds.candidate.take() else {
            return;
        };
        if let MoldOrigin::Worker(worker) = origin {
            reaction.push(Command::CloseLanes(worker.id));
        }
        mold.is_ready = true;
        self.refork.oldest_generation = mold.generation;
        let private = self.refork.promoted_private.take().unwrap_or_default();
        self.refork.reforks.succeeded(reaction.now, private);
        for worker in self.workers.iter_mut() {
            worker.requests_before = worker.requests;
        }
        if let Some(old) = self.molds.current.replace(mold) {
            reaction.push(Command::End(RubyProcess::Mold(old.generation)));
            let deadline = reaction.now + reaction.limits.shutdown_timeout;
            self.molds.leave(old, LeavingKind::Retired, deadline);
        }
    }

    pub(super) fn not_fork_safe(&mut self, generation: u32, cause: &str, reaction: &mut Reaction) {
        if self.molds.is_candidate(generation) {
            self.candidate_failed(cause, true, reaction);
        }
    }

    /// The candidate cannot be the mold; `is_final` if no other worker of its generation can. It ends, the mold stays.
    pub(super) fn candidate_failed(
        &mut self,
        cause: &str,
        is_final: bool,
        reaction: &mut Reaction,
    ) {
        if self.molds.is_restarting() {
            return self.restart_failed(cause, reaction);
        }
        let Some(candidate) = self.molds.candidate.take() else {
            return;
        };
        let MoldCandidate { mold, origin } = candidate;
        let MoldOrigin::Worker(worker) = origin else {
            return;
        };
        reaction.push(Command::CloseLanes(worker.id));
        let line = LogLine::warn("worker did not become the mold");
        let line = line.number("worker", worker.id.number);
        let line = line.number("gen", worker.generation);
        let line = line.number("pid", mold.pid.unwrap_or_default());
        let line = line.number("next_gen", mold.generation);
        reaction.log(line.text("cause", cause));
        self.refork.promoted_private = None;
        match self.molds.current.as_ref().filter(|_| is_final) {
            Some(mold) => self.refork.reforks.refused(reaction.now, mold.generation),
            None => self.refork.reforks.failed(reaction.now),
        }
        let deadline = reaction.now + reaction.limits.shutdown_timeout;
        self.molds
            .leave(mold, LeavingKind::Refused(worker), deadline);
    }

    pub(super) fn candidate_closed(&mut self, reaction: &mut Reaction) {
        self.kill_candidate(reaction);
        self.candidate_failed("it closed its control socket", false, reaction);
    }

    /// The process may have been the candidate.
    pub(super) fn candidate_exited(
        &mut self,
        pid: u32,
        status: ExitStatus,
        reaction: &mut Reaction,
    ) {
        let candidate = self.molds.candidate.as_ref();
        if candidate.is_some_and(|candidate| candidate.mold.pid == Some(pid)) {
            self.candidate_failed(&format!("it ended ({status})"), false, reaction);
        }
    }

    fn fail_late_candidate(&mut self, reaction: &mut Reaction) {
        let candidate = self.molds.candidate.as_ref();
        let loading = candidate.filter(|it| !it.mold.is_ready);
        let age = loading.map(|it| reaction.now.saturating_duration_since(it.mold.started));
        let limit = self.candidate_timeout();
        if age.is_some_and(|age| age > limit) {
            self.kill_candidate(reaction);
            let cause = format!("not ready within {limit:?} (boot_timeout)");
            self.candidate_failed(&cause, false, reaction);
        }
    }

    /// A restart may have brought another `boot_timeout`.
    fn candidate_timeout(&self) -> Duration {
        let restart = self.restarts.current.as_ref();
        let new = restart.and_then(|restart| restart.settings.as_ref());
        new.map_or(self.limits, |settings| settings.limits)
            .boot_timeout
    }

    pub(super) fn kill_candidate(&self, reaction: &mut Reaction) {
        let candidate = self.molds.candidate.as_ref();
        if let Some(pid) = candidate.and_then(|candidate| candidate.mold.pid) {
            reaction.push(Command::Kill { pid });
        }
    }
}

fn usage(worker: &Worker) -> WorkerUsage {
    WorkerUsage {
        serial: worker.id.serial,
        requests: worker.requests_since_takeover(),
        private: worker.private(),
    }
}
