//! The phases of the server. In the last one, the stop, the requests finish, then the workers end, then the mold, all
//! within `shutdown_timeout`. A process that is told to end has at least `KILL_AFTER`.

use std::time::{Duration, Instant};

use super::processes::Processes;
use super::processes::worker::WorkerBoot;
use super::reaction::{KILL_AFTER, Reaction};
use crate::command::{ClientsCommand, Command};
use crate::log_line::LogLine;

/// How long the last responses may take to send.
pub(super) const LAST_RESPONSES: Duration = Duration::from_millis(250);

/// The phase of the server.
#[derive(Debug, Clone, Copy)]
pub(super) enum Phase {
    /// The server accepts clients, or will when it has booted.
    Serving,
    /// The server still serves, but is about to stop.
    Draining(DrainDelay),
    /// A new edge accepts the clients; this one serves those that came before.
    HandedOver(HandedOver),
    /// The server stops.
    Stopping(Stop),
    /// The executor was told to exit; further events have no effect.
    Over,
}

/// The time between the request to stop and the stop.
#[derive(Debug, Clone, Copy)]
pub(super) struct DrainDelay {
    pub(super) begun: Instant,
    /// When `drain_delay` is over.
    pub(super) until: Instant,
}

/// The time between an upgrade and the stop of the old edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct HandedOver {
    /// When `upgrade_timeout` is over.
    pub(super) until: Instant,
    /// Whether a client was connected at the last tick.
    pub(super) has_clients: bool,
}

impl Phase {
    /// The time until which a worker that is told to end now may run its hooks, and whether its requests are given up.
    pub(super) fn worker_end(&self, reaction: &Reaction) -> (Instant, bool) {
        let now = reaction.now;
        match self {
            Phase::Stopping(stop) => (stop.end_deadline(now), now >= stop.deadline),
            Phase::Serving | Phase::Draining(_) | Phase::HandedOver(_) | Phase::Over => {
                let deadline = now + reaction.limits.shutdown_timeout.max(KILL_AFTER);
                (deadline, false)
            }
        }
    }
}

/// A stop under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stop {
    pub(super) begun: Instant,
    /// When `shutdown_timeout` is over.
    pub(super) deadline: Instant,
    /// Whether a client was connected at the last tick.
    pub(super) has_clients: bool,
    /// Whether further processes of the application have not ended.
    pub(super) has_apps: bool,
    step: StopStep,
    /// The warning if requests are still running at the deadline.
    warning: &'static str,
}

/// The steps of a stop, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StopStep {
    FinishRequests,
    /// The requests were given up, and the last responses are sent.
    CutOff {
        until: Instant,
    },
    EndWorkers {
        until: Instant,
        /// Whether the mold has not forked a worker that it was told to fork. It may be blocked in a hook.
        is_forking: bool,
    },
    EndMold {
        until: Instant,
    },
}

/// The server's behavior until the next step of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopWait {
    /// The server serves. A worker that ends is replaced, because a service manager may send the stop signal to all
    /// processes of the server.
    Serve,
    /// The server ends the workers that are overdue.
    EndOverdue,
    /// The server only waits.
    Rest,
    /// The stop is over.
    Finish,
}

impl Stop {
    pub(super) fn begin(now: Instant, timeout: Duration, warning: &'static str) -> Stop {
        Stop {
            begun: now,
            deadline: now + timeout,
            has_clients: true,
            has_apps: false,
            step: StopStep::FinishRequests,
            warning,
        }
    }

    /// When processes that are told to end now are killed.
    pub(super) fn end_deadline(&self, now: Instant) -> Instant {
        self.deadline.max(now + KILL_AFTER)
    }

    /// Takes as many steps as can be taken now.
    pub(super) fn advance(
        &mut self,
        processes: &mut Processes,
        reaction: &mut Reaction,
    ) -> StopWait {
        loop {
            match self.next_step(processes, reaction) {
                Ok(next) => self.step = next,
                Err(wait) => return wait,
            }
        }
    }

    /// The step that follows now, if the current one is over.
    fn next_step(
        &self,
        processes: &mut Processes,
        reaction: &mut Reaction,
    ) -> Result<StopStep, StopWait> {
        match self.step {
            StopStep::FinishRequests if reaction.now >= self.deadline => {
                reaction.log(LogLine::warn(self.warning));
                reaction.push(Command::Clients(ClientsCommand::CutOff));
                let until = reaction.now + LAST_RESPONSES;
                Ok(StopStep::CutOff { until })
            }
            StopStep::FinishRequests if self.has_clients => Err(StopWait::Serve),
            StopStep::CutOff { until } if self.has_clients && reaction.now < until => {
                Err(StopWait::Rest)
            }
            StopStep::FinishRequests | StopStep::CutOff { .. } => {
                Ok(self.begin_ending_workers(processes, reaction))
            }
            StopStep::EndWorkers { until, .. }
                if reaction.now < until && !processes.workers.is_empty() =>
            {
                Err(StopWait::EndOverdue)
            }
            // Further processes have time limits of their own.
            StopStep::EndWorkers { .. } if self.has_apps => Err(StopWait::EndOverdue),
            StopStep::EndWorkers { is_forking, .. } => {
                let workers = processes.workers.iter_mut();
                workers.for_each(|worker| worker.kill(reaction));
                Ok(self.begin_ending_mold(is_forking, processes, reaction))
            }
            StopStep::EndMold { until } => {
                let leaving = &processes.molds.leaving;
                if reaction.now < until && !leaving.is_empty() {
                    leaving.kill_overdue(reaction);
                    return Err(StopWait::Rest);
                }
                leaving.warn_unfinished(reaction);
                Err(StopWait::Finish)
            }
        }
    }

    /// Tells the workers to end. Requests whose clients are gone may run until `shutdown_timeout` is over; then the
    /// hooks run without waiting for them.
    fn begin_ending_workers(&self, processes: &mut Processes, reaction: &mut Reaction) -> StopStep {
        let deadline = self.deadline.max(reaction.now);
        let is_forking = processes.workers.iter().any(|worker| worker.pid.is_none());
        for id in processes.workers.ids() {
            let worker = processes.workers.get_mut(id);
            if let Some(worker) = worker.filter(|worker| worker.boot == WorkerBoot::Done) {
                worker.end_with_server(deadline, reaction);
            } else {
                processes.abandon(id, reaction);
            }
        }
        StopStep::EndWorkers {
            // Shortly after the deadline, a request may still end, and late ones are still noticed.
            until: reaction.now.max(self.deadline + LAST_RESPONSES) + KILL_AFTER,
            is_forking,
        }
    }

    /// Tells the molds to run their `at_exit` blocks. All workers have ended, so none needs what these blocks remove.
    fn begin_ending_mold(
        &self,
        is_forking: bool,
        processes: &mut Processes,
        reaction: &mut Reaction,
    ) -> StopStep {
        let until = if is_forking {
            reaction.now + KILL_AFTER
        } else {
            self.end_deadline(reaction.now)
        };
        let molds = &mut processes.molds;
        molds.end_previous(reaction);
        molds.end_former_worker(reaction.now + KILL_AFTER, reaction);
        if let Some(mold) = molds.current.take_if(|mold| mold.is_ready) {
            molds.end_for_good(mold, until, reaction);
        }
        StopStep::EndMold { until }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::tests::reaction;

    #[test]
    fn a_stop_serves_its_clients_until_the_deadline_and_then_cuts_them_off() {
        let mut reaction = reaction();
        let mut processes = Processes::new(1, 0, reaction.now);
        let mut stop = Stop::begin(reaction.now, Duration::from_secs(30), "too late");
        let wait = stop.advance(&mut processes, &mut reaction);
        assert_eq!((wait, reaction.commands.len()), (StopWait::Serve, 0));
        reaction.now = stop.deadline;
        let wait = stop.advance(&mut processes, &mut reaction);
        assert_eq!(wait, StopWait::Rest);
        assert_eq!(
            reaction.commands.pop(),
            Some(Command::Clients(ClientsCommand::CutOff))
        );
        reaction.now += LAST_RESPONSES;
        let wait = stop.advance(&mut processes, &mut reaction);
        assert_eq!(wait, StopWait::Finish);
    }

    #[test]
    fn a_stop_without_clients_and_processes_is_over_at_once() {
        let mut reaction = reaction();
        let mut processes = Processes::new(1, 0, reaction.now);
        let mut stop = Stop::begin(reaction.now, Duration::from_secs(30), "too late");
        stop.has_clients = false;
        let wait = stop.advance(&mut processes, &mut reaction);
        assert_eq!((wait, reaction.commands.len()), (StopWait::Finish, 0));
    }
}
