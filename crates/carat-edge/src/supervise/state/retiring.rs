//! How workers end.

use std::time::{Duration, Instant};

use super::State;
use super::phase::{KILL_AFTER, Phase};
use super::reaction::Reaction;
use super::worker::Worker;
use super::worker_stage::WorkerStage;
use crate::dispatch::{LaneTag, WorkerId};
use crate::supervise::command::Command;
use crate::supervise::log_line::LogLine;

/// How long a stuck worker has to report its stack.
const STACK_WAIT: Duration = Duration::from_secs(1);

impl State {
    /// The worker closed a lane: it is dying, or the application ended one of its threads. Its other lanes finish their
    /// requests.
    pub(super) fn lane_lost(&mut self, id: WorkerId, reaction: &mut Reaction) {
        if let Some(worker) = self.workers.get_mut(id) {
            worker.forgo_promotion();
            worker.has_lost_lane = true;
            if worker.is_ready() {
                worker.drain(reaction.now + reaction.limits.shutdown_timeout, reaction);
            }
        }
    }

    /// The worker got a signal to end from another process, or cannot go on.
    pub(super) fn leave(&mut self, id: WorkerId, reaction: &mut Reaction) {
        if let Some(worker) = self.workers.get_mut(id) {
            worker.forgo_promotion();
        }
        self.retire(id, "worker was told to end", reaction);
    }

    /// Gives a worker no more requests; it ends when it has finished those that it has.
    pub(super) fn retire(&mut self, id: WorkerId, message: &'static str, reaction: &mut Reaction) {
        let Some(worker) = self.workers.get_mut(id) else {
            return;
        };
        if worker.is_booting() || worker.is_ready() {
            reaction.log(worker.identify(LogLine::info(message)));
            worker.drain(drain_deadline(worker, reaction), reaction);
        }
    }

    /// All lanes of a worker are empty: it is told to end, or to be the mold.
    pub(super) fn drained(&mut self, id: WorkerId, reaction: &mut Reaction) {
        let (deadline, is_cut_off) = (self.end_deadline(reaction), self.is_cut_off(reaction));
        let Some(worker) = self.workers.get_mut(id) else {
            return;
        };
        let is_promoted = worker.is_promoted() && worker.pid.is_some();
        match &mut worker.stage {
            WorkerStage::Retiring { .. } if is_promoted => self.promote(id, reaction),
            WorkerStage::Retiring { .. } => {
                worker.stage = WorkerStage::Ending { deadline };
                if is_cut_off {
                    worker.end_now(reaction);
                } else {
                    worker.end(reaction);
                }
            }
            WorkerStage::Stuck { is_drained, .. } => *is_drained = true,
            _ => {}
        }
    }

    /// A request exceeded `request_timeout`: the worker reports its stack, finishes its other requests, and is
    /// replaced.
    pub(super) fn lane_stuck(&mut self, tag: LaneTag, request: u32, reaction: &mut Reaction) {
        let Some(worker) = self.workers.get_mut(tag.worker) else {
            return;
        };
        reaction.push(Command::AskStack { tag, request });
        let stack_deadline = reaction.now + STACK_WAIT;
        if worker.stage.is_last() {
            return;
        }
        match &mut worker.stage {
            // The deadline of its first stuck request stays.
            WorkerStage::Stuck { stack, .. } => *stack = stack_deadline,
            other => {
                *other = WorkerStage::Stuck {
                    stack: stack_deadline,
                    deadline: reaction.now + reaction.limits.shutdown_timeout,
                    is_drained: false,
                };
                reaction.push(Command::Drain(tag.worker));
            }
        }
    }

    pub(super) fn log_stack(
        &mut self,
        id: WorkerId,
        lane: u16,
        text: &str,
        reaction: &mut Reaction,
    ) {
        let Some(worker) = self.workers.get_mut(id) else {
            return;
        };
        if let WorkerStage::Stuck { stack, .. } = &mut worker.stage {
            *stack = reaction.now;
        }
        let report = worker.identify(LogLine::error("stack of the stuck request"));
        reaction.log(report.number("lane", lane).text("stack", text));
    }

    /// Somebody wants the worker killed, with all that it does.
    pub(super) fn kill_requested(&mut self, id: WorkerId, reaction: &mut Reaction) {
        let Some(worker) = self.workers.get_mut(id) else {
            return;
        };
        worker.forgo_promotion();
        if let Some(pid) = worker.pid {
            signal(worker, pid, false, reaction);
            let deadline = reaction.now + KILL_AFTER;
            worker.stage = WorkerStage::Killed { deadline };
        }
    }

    /// Until when a worker that is told to end now may run its hooks.
    fn end_deadline(&self, reaction: &Reaction) -> Instant {
        match &self.phase {
            Phase::Stopping(stop) => stop.end_deadline(reaction.now),
            _ => reaction.now + reaction.limits.shutdown_timeout.max(KILL_AFTER),
        }
    }

    /// Whether the stop has given up all requests, also those that workers are still running.
    fn is_cut_off(&self, reaction: &Reaction) -> bool {
        matches!(&self.phase, Phase::Stopping(stop) if reaction.now >= stop.deadline)
    }

    /// Sends SIGTERM to the workers whose time is over, and SIGKILL to those that had it.
    pub(super) fn end_overdue(&mut self, reaction: &mut Reaction) {
        for worker in self.workers.iter_mut() {
            let is_over = worker.stage.is_over(reaction.now);
            let Some(pid) = worker.pid.filter(|_| is_over) else {
                continue;
            };
            if worker.is_promoted() {
                worker.forgo_promotion();
                let cause = "its requests did not finish in time";
                self.refork.candidate_fails(worker, cause, reaction);
            }
            signal(worker, pid, worker.stage.is_terminated_first(), reaction);
            worker.end_now(reaction);
            worker.stage = worker.stage.after_signal(reaction.now, KILL_AFTER);
        }
    }

    /// Kills the workers that did not end with the server in time.
    pub(super) fn kill_workers(&mut self, reaction: &mut Reaction) {
        for worker in self.workers.iter_mut() {
            if let Some(pid) = worker.pid {
                signal(worker, pid, false, reaction);
                let deadline = reaction.now + KILL_AFTER;
                worker.stage = WorkerStage::Killed { deadline };
            }
        }
    }
}

/// A worker that is only replaced has time for its longest request, and for its tunnels: nothing waits for its end.
fn drain_deadline(worker: &Worker, reaction: &Reaction) -> Instant {
    let limits = &reaction.limits;
    let patience = match worker.replacement {
        Some(_) => limits
            .shutdown_timeout
            .max(limits.request_timeout.unwrap_or_default())
            .max(limits.tunnel_timeout),
        None => limits.shutdown_timeout,
    };
    reaction.now + patience
}

fn signal(worker: &Worker, pid: u32, is_terminated: bool, reaction: &mut Reaction) {
    use rustix::process::Signal;
    let (signal, command) = if is_terminated {
        (Signal::TERM, Command::Terminate { pid })
    } else {
        (Signal::KILL, Command::Kill { pid })
    };
    let number = signal.as_raw().unsigned_abs();
    let line = worker.identify(LogLine::warn("ending worker"));
    reaction.log(line.number("signal", number));
    reaction.push(command);
}
