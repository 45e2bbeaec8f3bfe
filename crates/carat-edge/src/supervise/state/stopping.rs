//! How the server stops. For `drain_delay` it serves as before, while load balancers notice. Then the requests finish, then
//! the workers end, then the mold, all within `shutdown_timeout`. Processes that are told to end have `KILL_AFTER` at least.

use std::time::Duration;

use super::State;
use super::molds::LeavingKind;
use super::phase::{DrainDelay, KILL_AFTER, Phase, Stop, StopStep};
use super::reaction::Reaction;
use super::worker::{Worker, WorkerBoot};
use crate::supervise::command::{Command, Outcome};
use crate::supervise::log_line::LogLine;

/// Wrappers such as `timeout` send a signal twice, to the process and to its group. A second signal this soon after the
/// first is the same one.
const SAME_SIGNAL: Duration = Duration::from_millis(250);

/// How long the last responses may take to send.
pub(super) const LAST_RESPONSES: Duration = Duration::from_millis(250);

impl State {
    /// SIGTERM, SIGINT, or `carat stop`: the first begins the drain delay, the next cuts it short, another one the stop.
    pub(super) fn stop_requested(&mut self, reaction: &mut Reaction) {
        match self.phase {
            Phase::Serving if self.has_to_drain(reaction) => self.begin_draining(reaction),
            Phase::Serving | Phase::HandedOver(_) => self.begin_stop(reaction),
            Phase::Draining(delay) if reaction.now > delay.begun + SAME_SIGNAL => {
                self.begin_stop(reaction);
            }
            Phase::Stopping(stop) if reaction.now > stop.begun + SAME_SIGNAL => {
                self.finish(Outcome::Cut, reaction);
            }
            Phase::Draining(_) | Phase::Stopping(_) | Phase::Over => {}
        }
    }

    /// Before the first worker is ready, no load balancer counts on the server.
    fn has_to_drain(&self, reaction: &Reaction) -> bool {
        self.is_announced && !reaction.limits.drain_delay.is_zero()
    }

    fn begin_draining(&mut self, reaction: &mut Reaction) {
        reaction.push(Command::TurnAway);
        let (now, delay) = (reaction.now, reaction.limits.drain_delay);
        reaction.log(LogLine::info("draining").milliseconds("delay_ms", delay));
        self.cancel_restart(reaction);
        self.cancel_upgrade("the server is stopping", reaction);
        self.phase = Phase::Draining(DrainDelay {
            begun: now,
            until: now + delay,
        });
    }

    fn begin_stop(&mut self, reaction: &mut Reaction) {
        let warning = "requests were still running after shutdown_timeout";
        self.begin_stop_within(reaction.limits.shutdown_timeout, warning, reaction);
    }

    pub(super) fn begin_stop_within(
        &mut self,
        timeout: Duration,
        warning: &'static str,
        reaction: &mut Reaction,
    ) {
        reaction.push(Command::StopAccepting(timeout));
        self.cancel_restart(reaction);
        self.cancel_upgrade("the server is stopping", reaction);
        self.workers.iter_mut().for_each(Worker::forgo_promotion);
        self.phase = Phase::Stopping(Stop::begin(reaction.now, timeout, warning));
    }

    /// Serves on until the delay is over.
    pub(super) fn advance_draining(&mut self, delay: DrainDelay, reaction: &mut Reaction) {
        if reaction.now < delay.until {
            self.keep_up(reaction);
        } else {
            self.begin_stop(reaction);
            self.advance_stop(reaction);
        }
    }

    /// Takes as many steps of the stop as can be taken now.
    pub(super) fn advance_stop(&mut self, reaction: &mut Reaction) {
        while let Phase::Stopping(stop) = self.phase {
            let Some(next) = self.next_step(&stop, reaction) else {
                return;
            };
            if let Phase::Stopping(stop) = &mut self.phase {
                stop.step = next;
            }
        }
    }

    /// The step that follows now, if the current one is over.
    fn next_step(&mut self, stop: &Stop, reaction: &mut Reaction) -> Option<StopStep> {
        match stop.step {
            StopStep::FinishRequests => self.finish_requests(stop, reaction),
            StopStep::CutOff { until } => {
                let is_over = !stop.has_clients || reaction.now >= until;
                is_over.then(|| self.begin_ending_workers(stop, reaction))
            }
            StopStep::EndWorkers { until, is_forking } => {
                let is_over = self.workers.is_empty() || reaction.now >= until;
                if !is_over {
                    self.end_overdue(reaction);
                    return None;
                }
                self.kill_workers(reaction);
                Some(self.begin_ending_mold(stop, is_forking, reaction))
            }
            StopStep::EndMold { until } => {
                if !self.molds.is_anyone_leaving() || reaction.now >= until {
                    self.molds.warn_unfinished(reaction);
                    self.finish(Outcome::Finished, reaction);
                }
                None
            }
        }
    }

    /// While a client waits, a worker that ends is replaced: a service manager may signal all processes of the server.
    fn finish_requests(&mut self, stop: &Stop, reaction: &mut Reaction) -> Option<StopStep> {
        if reaction.now >= stop.deadline {
            reaction.log(LogLine::warn(stop.warning));
            reaction.push(Command::CutOffClients);
            let until = reaction.now + LAST_RESPONSES;
            return Some(StopStep::CutOff { until });
        }
        if !stop.has_clients {
            return Some(self.begin_ending_workers(stop, reaction));
        }
        self.keep_up(reaction);
        None
    }

    /// Requests without a client may run until `shutdown_timeout` is over; then the hooks run without them.
    fn begin_ending_workers(&mut self, stop: &Stop, reaction: &mut Reaction) -> StopStep {
        let deadline = stop.deadline.max(reaction.now);
        let is_forking = self.workers.iter().any(|worker| worker.pid.is_none());
        for id in self.workers.ids() {
            let worker = self.workers.get_mut(id);
            if let Some(worker) = worker.filter(|worker| worker.boot == WorkerBoot::Done) {
                worker.end_with_server(deadline, reaction);
            } else {
                self.abandon(id, reaction);
            }
        }
        StopStep::EndWorkers {
            // A request may end, or be seen to be late, this much after the deadline.
            until: reaction.now.max(stop.deadline + LAST_RESPONSES) + KILL_AFTER,
            is_forking,
        }
    }

    /// The mold runs its `at_exit` blocks when no worker needs any more what they remove.
    fn begin_ending_mold(
        &mut self,
        stop: &Stop,
        is_forking: bool,
        reaction: &mut Reaction,
    ) -> StopStep {
        let until = if is_forking {
            reaction.now + KILL_AFTER
        } else {
            stop.end_deadline(reaction.now)
        };
        self.end_previous(reaction);
        if let Some(mold) = self.molds.current.take_if(|mold| mold.is_ready) {
            let generation = mold.generation;
            reaction.push(Command::EndWithServer { generation });
            self.molds.leave(mold, LeavingKind::Retired, until);
        }
        StopStep::EndMold { until }
    }

    /// Kills every process that is left, and exits.
    fn finish(&mut self, outcome: Outcome, reaction: &mut Reaction) {
        for process in self.processes() {
            reaction.push(Command::Kill { pid: process.pid });
        }
        if let Some(pid) = self.upgrades.current.as_ref().and_then(|it| it.pid) {
            reaction.push(Command::Kill { pid });
        }
        self.exit(outcome, reaction);
    }
}
