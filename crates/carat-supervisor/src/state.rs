//! The supervisor's decisions: plain state, events in, commands out. Nothing here does I/O or reads a clock.
//!
//! Each component decides one thing, and has fields of its own. [`State`] says in which order they act, and what the
//! end of a process means to each.

mod announcement;
mod app_processes;
mod events;
mod lifecycle;
mod next_to_replace;
mod processes;
mod reaction;
mod refork;
mod restart;
mod scaling;
mod stop;
#[cfg(test)]
mod tests;
mod upgrade;

use std::time::{Duration, Instant};

pub use self::app_processes::{AppProcessStatus, WantedProcesses};
pub use self::processes::running_process::RunningProcess;
pub use self::processes::worker_status::WorkerStatus;
pub use self::restart::RestartReport;

use self::announcement::Announcement;
use self::app_processes::AppProcesses;
use self::lifecycle::Lifecycle;
use self::next_to_replace::NextToReplace;
use self::processes::Processes;
use self::processes::worker::Worker;
use self::reaction::Reaction;
use self::refork::Refork;
use self::restart::Restarts;
use self::stop::{HandedOver, LAST_RESPONSES, Phase, Stop, StopWait};
use self::upgrade::Upgrades;
use super::command::{ClientsCommand, Command, Outcome};
use super::event::Event;
use super::generation_settings::GenerationSettings;
use super::limits::Limits;
use super::reading::Tick;

/// How long requests may take to finish in development. A request that stands at the prompt of a debugger never
/// finishes, and there the user has typed Control-C to stop the server.
const SHORT_SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// What the supervisor knows of the Ruby processes, and which processes it wants to run.
#[derive(Debug)]
pub struct State {
    limits: Limits,
    phase: Phase,
    lifecycle: Lifecycle,
    upgrades: Upgrades,
}

impl State {
    /// The state before the first process starts. `oom_kills` is the kernel's current count of OOM kills.
    pub fn new(first: GenerationSettings, oom_kills: u64, now: Instant) -> State {
        let GenerationSettings {
            limits,
            refork,
            apps,
            ..
        } = first;
        State {
            limits,
            phase: Phase::Serving,
            lifecycle: Lifecycle {
                processes: Processes::new(limits.elastic.min, oom_kills, now),
                next_to_replace: NextToReplace::default(),
                refork: Refork::new(refork, now),
                restarts: Restarts::default(),
                announcement: Announcement::default(),
                apps: AppProcesses::new(apps),
            },
            upgrades: Upgrades::default(),
        }
    }

    /// Marks this server as the successor of another one: the server is announced when all of its workers are ready.
    pub fn succeed_server(&mut self) {
        self.lifecycle.announcement.is_of_successor = true;
        self.lifecycle.apps.awaits_predecessor = true;
    }

    /// Handles one event, and returns the commands to carry out, in this order.
    pub fn on(&mut self, event: Event, now: Instant) -> Vec<Command> {
        let mut reaction = Reaction {
            now,
            limits: self.limits,
            commands: Vec::new(),
        };
        if !matches!(self.phase, Phase::Over) {
            self.apply(event, &mut reaction);
            if !reaction.is_over() {
                self.advance(&mut reaction);
            }
            self.limits = reaction.limits;
            if reaction.is_over() {
                self.phase = Phase::Over;
            }
        }
        reaction.commands
    }

    /// Takes the steps that may be due after any event.
    fn advance(&mut self, reaction: &mut Reaction) {
        match self.phase {
            Phase::Draining(delay) if reaction.now >= delay.until => {
                self.begin_stop(None, reaction);
            }
            Phase::HandedOver(it) if !it.has_clients || reaction.now >= it.until => {
                self.begin_stop(Some(it), reaction);
            }
            Phase::Serving
            | Phase::Draining(_)
            | Phase::HandedOver(_)
            | Phase::Stopping(_)
            | Phase::Over => {}
        }
        let is_stopping = matches!(self.phase, Phase::Stopping(_));
        let has_ended = is_stopping || matches!(self.phase, Phase::HandedOver(_));
        let makes_room = self.lifecycle.restarts.has_apps_out();
        let apps = &mut self.lifecycle.apps;
        apps.set_ending(has_ended || makes_room, is_stopping);
        self.lifecycle.keep_apps(reaction);
        if let Phase::Stopping(stop) = &mut self.phase {
            stop.has_apps = !self.lifecycle.apps.is_empty(reaction);
        }
        match &mut self.phase {
            Phase::Serving | Phase::Draining(_) | Phase::HandedOver(_) => {
                self.upgrades.advance(reaction);
                self.lifecycle.keep_up(reaction);
            }
            Phase::Stopping(stop) => match stop.advance(&mut self.lifecycle.processes, reaction) {
                StopWait::Serve => self.lifecycle.keep_up(reaction),
                StopWait::EndOverdue => self.lifecycle.end_overdue(reaction),
                StopWait::Rest => {}
                StopWait::Finish => self.finish(Outcome::Finished, reaction),
            },
            Phase::Over => {}
        }
    }

    /// Does the work of a tick, every 100 ms.
    fn tick(&mut self, tick: &Tick, reaction: &mut Reaction) {
        match &mut self.phase {
            Phase::Serving | Phase::Draining(_) => {
                self.lifecycle.follow_load(tick, reaction);
            }
            Phase::HandedOver(handed) => {
                handed.has_clients = tick.has_clients;
                self.lifecycle.follow_clients(tick.clients, reaction);
            }
            Phase::Stopping(stop) => stop.has_clients = tick.has_clients,
            Phase::Over => {}
        }
    }

    /// Begins the stop. After an upgrade, it may take what is left of `upgrade_timeout`, but at most
    /// `shutdown_timeout`.
    fn begin_stop(&mut self, handed: Option<HandedOver>, reaction: &mut Reaction) {
        let mut timeout = reaction.limits.shutdown_timeout;
        let mut warning = "requests were still running after shutdown_timeout";
        if reaction.limits.replaces_at_once {
            timeout = timeout.min(SHORT_SHUTDOWN_TIMEOUT);
            warning = "requests were still running";
        }
        if let Some(handed) = handed {
            // The clients are gone or late, so only the rest of the time is left. Idle connections close soon.
            let left = handed.until.saturating_duration_since(reaction.now);
            timeout = left.min(timeout).max(LAST_RESPONSES);
            warning = "requests were still running after upgrade_timeout";
        }
        reaction.push(Command::Clients(ClientsCommand::StopAccepting(timeout)));
        self.lifecycle.announcement.forgo();
        self.cancel_releases(reaction);
        let workers = self.lifecycle.processes.workers.iter_mut();
        workers.for_each(Worker::forgo_promotion);
        self.phase = Phase::Stopping(Stop::begin(reaction.now, timeout, warning));
    }

    fn cancel_releases(&mut self, reaction: &mut Reaction) {
        let life = &mut self.lifecycle;
        life.restarts.cancel(&mut life.processes, reaction);
        self.upgrades.cancel("the server is stopping", reaction);
    }

    /// Kills every process that is left, and exits.
    fn finish(&mut self, outcome: Outcome, reaction: &mut Reaction) {
        for process in self.lifecycle.processes.running() {
            reaction.kill(Some(process.pid));
        }
        self.lifecycle.apps.kill_all(reaction);
        reaction.kill(self.upgrades.pid());
        reaction.push(Command::Exit(outcome));
    }

    /// The server's phase as `carat status` shows it.
    pub fn phase_name(&self) -> &'static str {
        match self.phase {
            Phase::Serving if self.lifecycle.announcement.is_made => "serving",
            Phase::Serving => "starting",
            Phase::Draining(_) => "draining",
            Phase::HandedOver(_) => "finishing",
            Phase::Stopping(_) | Phase::Over => "stopping",
        }
    }

    /// Whether the server was told to stop.
    pub fn is_stopping(&self) -> bool {
        !matches!(self.phase, Phase::Serving)
    }

    /// Whether another edge accepts the clients.
    pub fn is_finishing(&self) -> bool {
        matches!(self.phase, Phase::HandedOver(_))
    }

    /// How much longer `drain_delay` or `upgrade_timeout` lasts; `None` if neither runs.
    pub fn draining_for(&self, now: Instant) -> Option<Duration> {
        let until = match self.phase {
            Phase::Draining(delay) => delay.until,
            Phase::HandedOver(handed) => handed.until,
            Phase::Serving | Phase::Stopping(_) | Phase::Over => return None,
        };
        Some(until.saturating_duration_since(now))
    }

    /// How long requests may take to finish when the server is told to stop now.
    pub fn stops_within(&self) -> Duration {
        let delay = match self.phase {
            Phase::Serving => self.limits.drain_delay,
            // A second order to stop ends the drain delay.
            Phase::Draining(_) | Phase::HandedOver(_) | Phase::Stopping(_) | Phase::Over => {
                Duration::ZERO
            }
        };
        let requests = self.limits.shutdown_timeout;
        delay + requests.max(self.apps().stop_timeout(requests))
    }

    /// The limits that hold now.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The Ruby processes.
    pub fn processes(&self) -> &Processes {
        &self.lifecycle.processes
    }

    /// The further processes of the application.
    pub fn apps(&self) -> &AppProcesses {
        &self.lifecycle.apps
    }

    /// The restart under way, the queued one, and the past ones.
    pub fn restarts(&self) -> &Restarts {
        &self.lifecycle.restarts
    }

    /// Why the last worker that was to become the mold did not become it; `None` once a worker has.
    pub fn refork_refusal(&self) -> Option<&str> {
        self.lifecycle.refork.refusal()
    }

    /// The upgrade that is under way, and the new edge of the last one.
    pub fn upgrades(&self) -> &Upgrades {
        &self.upgrades
    }

    /// Whether there is a mold to go back to.
    pub fn may_roll_back(&self) -> bool {
        self.processes().molds.previous.is_some()
    }

    /// Why no one-off process can start now; `None` if one can.
    pub fn one_off_obstacle(&self) -> Option<&'static str> {
        self.is_stopping().then_some("the server is stopping")
    }

    /// Why no upgrade can begin now; `None` if one can.
    pub fn upgrade_obstacle(&self) -> Option<&'static str> {
        match self.phase {
            Phase::HandedOver(_) => Some("a new edge has taken over already"),
            Phase::Draining(_) | Phase::Stopping(_) | Phase::Over => Some("the server is stopping"),
            Phase::Serving if !self.lifecycle.announcement.is_made => {
                Some("the server is still starting")
            }
            Phase::Serving if self.upgrades.is_under_way() => {
                Some("an upgrade is already under way")
            }
            // The next edge would start its own further processes beside them.
            Phase::Serving if self.apps().awaits_predecessor => {
                Some("processes of the edge before this one have not ended yet")
            }
            Phase::Serving => (self.restarts().is_under_way()).then_some("a restart is under way"),
        }
    }
}
