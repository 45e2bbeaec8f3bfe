//! The supervisor's decisions: plain state, events in, commands out. Nothing here does I/O or reads a clock.
//!
//! Each part decides one thing, with fields of its own; [`State`] says in which order they act, and what the end of a
//! process means to each.

mod announcement;
mod app_processes;
mod lifecycle;
mod next_to_replace;
mod phase;
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
use self::phase::{DrainDelay, HandedOver, Phase};
use self::processes::Processes;
use self::processes::worker::Worker;
use self::reaction::Reaction;
use self::refork::Refork;
use self::restart::Restarts;
use self::stop::{LAST_RESPONSES, Stop, StopWait};
use self::upgrade::Upgrades;
use super::command::{Command, Outcome};
use super::event::{Event, Tick};
use super::exit_status::ExitStatus;
use super::generation_settings::GenerationSettings;
use super::limits::Limits;
use super::log_line::LogLine;
use super::ruby_process::RubyProcess;
use carat_log::WorkerId;

/// Wrappers such as `timeout` send a signal twice, to the process and to its group. A second signal this soon after the
/// first is the same one.
const SAME_SIGNAL: Duration = Duration::from_millis(250);

/// How long requests may take to finish where somebody works on the code: one that is at the prompt of a debugger never
/// does, and Control-C was typed there.
const WORK_PATIENCE: Duration = Duration::from_secs(1);

/// The Ruby processes as the supervisor knows them, and what it wants of them.
#[derive(Debug)]
pub struct State {
    limits: Limits,
    phase: Phase,
    lifecycle: Lifecycle,
    upgrades: Upgrades,
}

impl State {
    /// Starts without a process. `oom_kills` is the kernel's current count.
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
        self.lifecycle.apps.await_predecessor();
    }

    /// Handles one event, and returns what to do, in this order.
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

    /// The table of events.
    fn apply(&mut self, event: Event, reaction: &mut Reaction) {
        let life = &mut self.lifecycle;
        let Processes { workers, molds, .. } = &mut life.processes;
        match event {
            Event::MoldStarted { generation, pid } => molds.started(generation, pid),
            Event::MoldStartFailed { generation, cause } => {
                let cause = format!("cannot start the mold: {cause}");
                life.boot_failed(RubyProcess::Mold(generation), &cause, reaction);
            }
            Event::ForkFailed { worker, cause } => life.fork_failed(worker, &cause, reaction),
            Event::Hello { process, pid } => life.hello(process, pid, reaction),
            Event::Ready(RubyProcess::Mold(generation)) => life.mold_ready(generation, reaction),
            Event::Ready(RubyProcess::Worker(id)) => life.worker_ready(id, reaction),
            Event::Ready(RubyProcess::App(id)) => life.apps.ready(id, reaction),
            Event::AppForkFailed { id, cause } => life.apps.failed(id, &cause, reaction),
            Event::GroupEnded(id) => life.group_ended(id, reaction),
            Event::AppLoad(id, load) => life.load_measured(id, load, reaction),
            Event::BootFailed { process, cause } => life.boot_failed(process, &cause, reaction),
            Event::NotForkSafe { generation, cause } if molds.is_candidate(generation) => {
                life.candidate_failed(&cause, true, reaction);
            }
            Event::ForkSafety { worker, result } => {
                let reply = (worker, result);
                let is_free = !life.restarts.is_under_way();
                life.refork
                    .replied(reply, is_free, &mut life.processes, reaction);
            }
            Event::Stack(report) => {
                workers.with(report.tag.worker, |it| it.log_stack(&report, reaction));
            }
            Event::Leaving(id) => workers.with(id, |it| it.leave(reaction)),
            Event::LaneLost(id) => workers.with(id, |it| it.lose_lane(reaction)),
            Event::LaneStuck { tag, request } => {
                workers.with(tag.worker, |it| it.get_stuck(tag, request, reaction));
            }
            Event::KillRequested(id) => workers.with(id, |it| it.kill(reaction)),
            Event::DescriptorsLost(id) => next_to_replace::mark_leaky(workers, id, reaction),
            Event::Closed(process) => life.closed(process, reaction),
            Event::Drained(worker) => self.drained(worker, reaction),
            Event::Traffic(traffic) => workers.update_traffic(&traffic),
            Event::MemoryRead(reading) => life.memory_read(&reading, reaction),
            Event::Exited { pid, status } => {
                if !self.successor_exited(pid, status, reaction) {
                    self.lifecycle.exited(pid, status, reaction);
                }
            }
            Event::Tick(tick) => self.tick(&tick, reaction),
            _ => self.apply_order(event, reaction),
        }
    }

    /// Applies an order from outside, or a step of a restart or an upgrade.
    fn apply_order(&mut self, event: Event, reaction: &mut Reaction) {
        let life = &mut self.lifecycle;
        let (restarts, processes) = (&mut life.restarts, &mut life.processes);
        match event {
            Event::StopRequested => self.stop_requested(reaction),
            Event::ClientsLimited(bytes) => reaction.limits.client_memory = bytes,
            Event::Scaled(elastic) => life.scale(elastic, reaction),
            Event::AppScaled { name, bounds } => life.apps.scale(&name, bounds, reaction),
            Event::AppReplaced { name, number } => life.apps.replace(&name, number),
            Event::RestartRequested => self.restart_requested(reaction),
            Event::ReloadRequested => self.reload_requested(reaction),
            Event::SettingsRead(settings, unchanged) if restarts.is_reading() => {
                restarts.settings_read(*settings, &unchanged, reaction);
            }
            Event::SettingsFailed { cause } if restarts.is_reading() => {
                restarts.fail(&cause, processes, reaction);
            }
            Event::Checked { worker, result } if restarts.is_trial(worker) => {
                life.checked(worker, result, reaction);
            }
            Event::UpgradeRequested => match self.upgrade_obstacle() {
                Some(cause) => reaction.log(LogLine::warn("no upgrade").text("cause", cause)),
                None => self.upgrades.begin(&mut self.lifecycle.processes, reaction),
            },
            Event::SuccessorStarted { pid } => self.upgrades.started(pid),
            Event::SuccessorReady { pid } if self.upgrades.ready(pid, reaction) => {
                self.phase = Phase::HandedOver(HandedOver {
                    until: reaction.now + reaction.limits.upgrade_timeout,
                    has_clients: true,
                });
            }
            Event::SuccessorFailed { pid, cause } => self.upgrades.failed(pid, cause, reaction),
            Event::PredecessorLeft if life.announcement.is_made => life.apps.predecessor_ended(),
            Event::PredecessorLeft => {
                reaction.fail("the old edge ended before this one was ready".to_owned());
            }
            Event::RollbackRequested if !self.is_stopping() => self.lifecycle.roll_back(reaction),
            _ => self.apply_to_consoles(&event, reaction),
        }
    }

    /// Applies an order of a console's client.
    fn apply_to_consoles(&mut self, event: &Event, reaction: &mut Reaction) {
        let apps = &mut self.lifecycle.apps;
        match *event {
            Event::ConsoleRequested(id) => apps.open_console(id, reaction),
            Event::ConsoleSignaled { id, signal } => apps.signal_console(id, signal, reaction),
            Event::ConsoleLeft(id) => apps.leave_console(id, reaction),
            _ => {}
        }
    }

    /// Takes the steps that may have become due with any event.
    fn advance(&mut self, reaction: &mut Reaction) {
        match self.phase {
            Phase::Draining(delay) if reaction.now >= delay.until => {
                self.begin_stop(None, reaction);
            }
            Phase::HandedOver(it) if !it.has_clients || reaction.now >= it.until => {
                self.begin_stop(Some(it), reaction);
            }
            _ => {}
        }
        let is_stopping = matches!(self.phase, Phase::Stopping(_));
        let has_ended = is_stopping || matches!(self.phase, Phase::HandedOver(_));
        let makes_room = self.lifecycle.restarts.ends_apps();
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

    /// Does the work of each 100 ms.
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

    /// All lanes of a worker are empty: it is told to end, or to be the mold.
    fn drained(&mut self, id: WorkerId, reaction: &mut Reaction) {
        let Processes { workers, molds, .. } = &mut self.lifecycle.processes;
        if let Some(worker) = workers.get(id).filter(|it| it.may_be_mold()) {
            molds.promote(worker, reaction);
            workers.remove(id);
        } else {
            let (deadline, is_cut_off) = self.phase.worker_end(reaction);
            workers.with(id, |it| it.drained(deadline, is_cut_off, reaction));
        }
    }

    /// The new edge has ended, if it has this process id. After one that died, this one finishes as in a stop: whoever
    /// supervises the server is to see that nobody serves.
    fn successor_exited(&mut self, pid: u32, status: ExitStatus, reaction: &mut Reaction) -> bool {
        // Another process may get its id.
        let successor = self.upgrades.successor.take_if(|it| *it == pid);
        let had_taken_over = successor.is_some();
        // One that is stopped, or replaced in turn, exits with 0.
        if had_taken_over && self.is_finishing() && !status.is_success() {
            let line = LogLine::error("the new edge has died").number("successor", pid);
            reaction.log(line.text("status", status.to_string()));
            self.begin_stop(None, reaction);
        }
        self.upgrades.exited(pid) || had_taken_over
    }

    fn restart_requested(&mut self, reaction: &mut Reaction) {
        if self.is_stopping() {
            reaction.log(LogLine::warn("no restart: the server is stopping"));
        } else if !self.lifecycle.announcement.is_made {
            reaction.log(LogLine::info("a restart follows the start"));
            self.lifecycle.restarts.queue();
        } else if self.upgrades.is_under_way() {
            reaction.log(LogLine::warn("no restart: an upgrade is under way"));
        } else {
            let life = &mut self.lifecycle;
            life.restarts.begin_or_queue(&mut life.processes, reaction);
        }
    }

    /// Source files have changed.
    fn reload_requested(&mut self, reaction: &mut Reaction) {
        if self.is_stopping() {
            // The old code serves the last requests.
            return reaction.push(Command::EndReload(Ok(())));
        }
        let (life, cause) = (&mut self.lifecycle, "source files have changed");
        self.upgrades.cancel(cause, reaction);
        life.restarts.begin_or_queue(&mut life.processes, reaction);
    }

    /// SIGTERM, SIGINT, or `carat stop`: the first begins the drain delay, the next cuts it short, another one the stop.
    fn stop_requested(&mut self, reaction: &mut Reaction) {
        let delay = reaction.limits.drain_delay;
        match self.phase {
            // Before the first worker is ready, no load balancer counts on the server.
            Phase::Serving if self.lifecycle.announcement.is_made && !delay.is_zero() => {
                reaction.push(Command::TurnAway);
                reaction.log(LogLine::info("draining").milliseconds("delay_ms", delay));
                self.cancel_releases(reaction);
                self.phase = Phase::Draining(DrainDelay {
                    begun: reaction.now,
                    until: reaction.now + delay,
                });
            }
            Phase::Serving | Phase::HandedOver(_) => self.begin_stop(None, reaction),
            Phase::Draining(delay) if reaction.now > delay.begun + SAME_SIGNAL => {
                self.begin_stop(None, reaction);
            }
            Phase::Stopping(stop) if reaction.now > stop.begun + SAME_SIGNAL => {
                self.finish(Outcome::Cut, reaction);
            }
            Phase::Draining(_) | Phase::Stopping(_) | Phase::Over => {}
        }
    }

    /// Stops, within what is left of `upgrade_timeout` if the clients have left since a new edge took over.
    fn begin_stop(&mut self, handed: Option<HandedOver>, reaction: &mut Reaction) {
        let mut timeout = reaction.limits.shutdown_timeout;
        let mut warning = "requests were still running after shutdown_timeout";
        if reaction.limits.reload {
            timeout = timeout.min(WORK_PATIENCE);
            warning = "requests were still running";
        }
        if let Some(handed) = handed {
            // Idle connections close soon.
            let left = handed.until.saturating_duration_since(reaction.now);
            timeout = left.min(timeout).max(LAST_RESPONSES);
            warning = "requests were still running after upgrade_timeout";
        }
        reaction.push(Command::StopAccepting(timeout));
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

    /// How much longer `drain_delay` or `upgrade_timeout` lasts; `None` unless one runs.
    pub fn draining_for(&self, now: Instant) -> Option<Duration> {
        let until = match self.phase {
            Phase::Draining(delay) => delay.until,
            Phase::HandedOver(handed) => handed.until,
            _ => return None,
        };
        Some(until.saturating_duration_since(now))
    }

    /// How long requests may take to finish when the server is told to stop now.
    pub fn stops_within(&self) -> Duration {
        let delay = match self.phase {
            Phase::Serving => self.limits.drain_delay,
            // Told again, it does not wait for the rest.
            _ => Duration::ZERO,
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

    /// The restarts: under way, queued, and past ones.
    pub fn restarts(&self) -> &Restarts {
        &self.lifecycle.restarts
    }

    /// Why the last worker that was to become the mold did not; `None` once one has.
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

    /// Why there is no console now; `None` if there can be one.
    pub fn console_obstacle(&self) -> Option<&'static str> {
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
            // The next edge would start its own beside them.
            Phase::Serving if self.apps().awaits_predecessor() => {
                Some("processes of the edge before this one have not ended yet")
            }
            Phase::Serving => (self.restarts().is_under_way()).then_some("a restart is under way"),
        }
    }
}
