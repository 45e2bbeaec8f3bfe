//! From a fork to a worker that serves.

use super::State;
use super::reaction::Reaction;
use super::worker::{Worker, WorkerBoot};
use super::worker_stage::WorkerStage;
use crate::dispatch::WorkerId;
use crate::supervise::command::Command;
use crate::supervise::exit_status::ExitStatus;
use crate::supervise::log_line::LogLine;
use crate::supervise::ruby_process::RubyProcess;

impl State {
    /// Forks the workers that are missing, as far as there is memory for them.
    pub(super) fn fork_missing(&mut self, reaction: &mut Reaction) {
        let Some(generation) = self.molds.ready().map(|mold| mold.generation) else {
            return;
        };
        if !self.worker_backoff.allows(reaction.now) {
            return;
        }
        let wanted = self.most_workers();
        for _ in 0..self.affordable(self.workers.missing(wanted), reaction) {
            let worker = self.workers.next_id();
            self.workers
                .insert(Worker::forked(worker, generation, reaction));
            reaction.push(Command::Fork {
                worker,
                generation,
                is_trial: false,
            });
        }
    }

    pub(super) fn fork_failed(&mut self, id: WorkerId, cause: &str, reaction: &mut Reaction) {
        self.workers.remove(id);
        self.trial_failed(id, cause, reaction);
        // Forks that fail together are logged once.
        if self.worker_backoff.allows(reaction.now) {
            reaction.log(LogLine::error("cannot fork a worker").text("cause", cause));
        }
        self.worker_backoff.fail(reaction.now);
    }

    pub(super) fn hello(&mut self, process: RubyProcess, pid: u32, reaction: &mut Reaction) {
        let RubyProcess::Worker(id) = process else {
            return;
        };
        let Some(worker) = self.workers.get_mut(id) else {
            return;
        };
        worker.pid = Some(pid);
        if let Some(status) = self.unclaimed_exits.claim(pid) {
            self.worker_exited(id, status, reaction);
        }
    }

    pub(super) fn ready(&mut self, process: RubyProcess, reaction: &mut Reaction) {
        match process {
            RubyProcess::Mold(generation) => self.mold_ready(generation, reaction),
            RubyProcess::Worker(id) => self.worker_ready(id, reaction),
        }
    }

    pub(super) fn worker_ready(&mut self, id: WorkerId, reaction: &mut Reaction) {
        let Some(worker) = self.workers.get_mut(id) else {
            return;
        };
        worker.boot = WorkerBoot::Done;
        if worker.is_trial() {
            return self.check_trial(id, reaction);
        }
        if !worker.is_booting() {
            return;
        }
        worker.stage = WorkerStage::Ready;
        worker.ready_since = Some(reaction.now);
        if worker.is_canary() {
            self.restarts.forget_failures();
        }
        let boot = reaction.now.saturating_duration_since(worker.forked);
        let line = worker.identify(LogLine::info("worker ready"));
        reaction.log(line.milliseconds("boot_ms", boot));
        self.worker_backoff.succeed();
        self.memory.hurry(reaction.now);
        self.boot_errors.forget();
        if !self.is_announced && !self.is_successor {
            self.is_announced = true;
            reaction.push(Command::Announce);
        }
        if self.workers.get(id).is_some_and(|it| it.has_lost_lane) {
            self.lane_lost(id, reaction);
        }
    }

    pub(super) fn boot_failed(
        &mut self,
        process: RubyProcess,
        cause: &str,
        reaction: &mut Reaction,
    ) {
        match process {
            RubyProcess::Mold(generation) if self.molds.is_candidate(generation) => {
                self.candidate_failed(cause, false, reaction);
            }
            RubyProcess::Mold(generation) if self.molds.current_mut(generation).is_some() => {
                self.mold_failed(cause, reaction);
            }
            RubyProcess::Mold(_) => {}
            RubyProcess::Worker(id) => self.worker_boot_failed(id, cause, reaction),
        }
    }

    /// The worker, or the mold on its behalf, said why it cannot boot.
    fn worker_boot_failed(&mut self, id: WorkerId, cause: &str, reaction: &mut Reaction) {
        let Some(worker) = self.workers.get_mut(id) else {
            return;
        };
        worker.boot = WorkerBoot::Failed;
        let generation = worker.generation;
        if worker.is_trial() {
            return self.trial_failed(id, cause, reaction);
        }
        self.count_failure(generation, cause, reaction);
        let Some(worker) = self.workers.get(id) else {
            return;
        };
        let delay = self.worker_backoff.fail(reaction.now);
        let line = worker.identify(LogLine::error("worker failed to boot"));
        reaction.log(self.boot_errors.line(line, delay, cause));
    }

    /// Workers that are not ready in time have failed.
    pub(super) fn fail_late_boots(&mut self, reaction: &mut Reaction) {
        let cause = not_ready_within(reaction);
        for id in self.workers.late_boots(reaction.now) {
            self.worker_boot_failed(id, &cause, reaction);
            let stuck = self.workers.get(id).filter(|it| it.pid.is_none());
            if let Some(generation) = stuck.map(|it| it.generation) {
                self.worker_exited(id, ExitStatus::Unknown, reaction);
                self.kill_stuck_mold(generation, reaction);
            }
        }
    }

    /// The mold did not fork a worker in time: the next one will.
    fn kill_stuck_mold(&self, generation: u32, reaction: &mut Reaction) {
        let candidate = self.molds.candidate.as_ref().map(|it| &it.mold);
        let candidate = candidate.filter(|mold| mold.generation == generation);
        let Some(mold) = candidate.or(self.molds.current.as_ref()) else {
            return;
        };
        reaction.log(mold.identify(LogLine::error("mold does not fork")));
        if let Some(pid) = mold.pid {
            reaction.push(Command::Kill { pid });
        }
    }

    /// Ends a worker that has not served yet.
    pub(super) fn abandon(&mut self, id: WorkerId, reaction: &mut Reaction) {
        let Some(worker) = self.workers.get_mut(id) else {
            return;
        };
        worker.boot = WorkerBoot::Failed;
        match worker.pid {
            Some(pid) => reaction.push(Command::Kill { pid }),
            // If it ever starts, it finds its control socket closed.
            None => self.worker_exited(id, ExitStatus::Unknown, reaction),
        }
    }
}

/// Why a process that missed `boot_timeout` failed.
fn not_ready_within(reaction: &Reaction) -> String {
    format!(
        "not ready within {:?} (boot_timeout)",
        reaction.limits.boot_timeout
    )
}
