//! What the end of a process means.

use super::State;
use super::phase::KILL_AFTER;
use super::reaction::Reaction;
use super::worker::{Worker, WorkerBoot};
use super::worker_stage::WorkerStage;
use crate::dispatch::WorkerId;
use crate::supervise::command::Command;
use crate::supervise::exit_status::ExitStatus;
use crate::supervise::log_line::LogLine;
use crate::supervise::ruby_process::RubyProcess;

impl State {
    /// A child process ended.
    pub(super) fn exited(&mut self, pid: u32, status: ExitStatus, reaction: &mut Reaction) {
        if self.upgrades.exited(pid) {
            return;
        }
        let current = self.molds.current.as_ref();
        if let Some(id) = self.workers.with_pid(pid) {
            self.worker_exited(id, status, reaction);
        } else if current.is_some_and(|mold| mold.pid == Some(pid)) {
            self.mold_exited(status, reaction);
        } else {
            self.candidate_exited(pid, status, reaction);
            if self
                .restarts
                .mold()
                .is_some_and(|mold| mold.pid == Some(pid))
            {
                self.lose_previous(reaction);
            }
            if !self.molds.forget(pid, &status.to_string(), reaction) {
                self.unclaimed_exits.add(reaction.now, pid, status);
            }
        }
    }

    /// A process closed its control socket: it is dead or dying, or must be made to end.
    pub(super) fn control_closed(&mut self, process: RubyProcess, reaction: &mut Reaction) {
        match process {
            RubyProcess::Mold(generation) => self.mold_closed(generation, reaction),
            RubyProcess::Worker(id) => self.worker_closed(id, reaction),
        }
    }

    fn worker_closed(&mut self, id: WorkerId, reaction: &mut Reaction) {
        let Some(worker) = self.workers.get_mut(id) else {
            return;
        };
        if worker.pid.is_none() {
            // It never started.
            self.worker_exited(id, ExitStatus::Unknown, reaction);
        } else if !worker.stage.is_last() {
            worker.stage = WorkerStage::Lost {
                deadline: reaction.now + KILL_AFTER,
            };
            if worker.boot == WorkerBoot::Pending {
                self.worker_backoff.fail(reaction.now);
            }
        }
    }

    /// The worker is dead: it is forgotten, and its lanes are closed.
    pub(super) fn worker_exited(
        &mut self,
        id: WorkerId,
        status: ExitStatus,
        reaction: &mut Reaction,
    ) {
        let Some(worker) = self.workers.remove(id) else {
            return;
        };
        if worker.boot == WorkerBoot::Done && !is_expected(&worker, status) {
            self.count_death(worker.generation);
        }
        self.memory.hurry(reaction.now);
        reaction.push(Command::CloseLanes(id));
        reaction.push(Command::CloseControl(RubyProcess::Worker(id)));
        if let Some(line) = self.exit_line(&worker, status, reaction) {
            reaction.log(line);
        }
        self.trial_failed(id, &status.to_string(), reaction);
    }

    /// The line of a worker's exit; `None` if the log says already why it cannot boot.
    fn exit_line(
        &mut self,
        worker: &Worker,
        status: ExitStatus,
        reaction: &mut Reaction,
    ) -> Option<LogLine> {
        let line = if is_expected(worker, status) {
            LogLine::info("worker ended")
        } else {
            match worker.boot {
                WorkerBoot::Failed => return None,
                WorkerBoot::Pending => {
                    let line = worker.identify(LogLine::error("worker died while booting"));
                    let delay = self.worker_backoff.fail(reaction.now);
                    return Some(self.boot_errors.line(line, delay, &status.to_string()));
                }
                WorkerBoot::Done => match status.kill() {
                    Some(kills) if self.memory.explains_kill(kills, reaction.now) => {
                        LogLine::warn("worker was killed by the OOM killer")
                    }
                    _ => LogLine::error("worker died"),
                },
            }
        };
        Some(worker.identify(line).text("cause", status))
    }
}

/// Whether the worker ended as it was told to.
fn is_expected(worker: &Worker, status: ExitStatus) -> bool {
    match worker.stage {
        WorkerStage::Retiring { .. } | WorkerStage::Stuck { .. } | WorkerStage::Ending { .. } => {
            status.is_success()
        }
        WorkerStage::Killed { .. } => worker.boot == WorkerBoot::Done && status.kill().is_some(),
        _ => false,
    }
}
