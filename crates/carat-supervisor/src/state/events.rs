//! The table of events: which component handles each event.

use std::time::Duration;

use super::State;
use super::next_to_replace;
use super::processes::Processes;
use super::reaction::Reaction;
use super::stop::{DrainDelay, HandedOver, Phase};
use crate::command::{ClientsCommand, Command, Outcome};
use crate::event::{AppEvent, Event, ProcessEvent, RestartEvent, UpgradeEvent, WorkerEvent};
use crate::exit_status::ExitStatus;
use crate::log_line::LogLine;
use crate::ruby_process::RubyProcess;
use carat_log::WorkerId;

/// Wrappers such as `timeout` send a signal twice, to the process and to its group. A second signal within this time
/// counts as a copy of the first.
const SAME_SIGNAL: Duration = Duration::from_millis(250);

impl State {
    /// Hands the event to the components that it concerns.
    pub(super) fn apply(&mut self, event: Event, reaction: &mut Reaction) {
        let life = &mut self.lifecycle;
        match event {
            Event::Process(event) => self.apply_to_process(event, reaction),
            Event::Worker(event) => self.apply_to_worker(event, reaction),
            Event::App(event) => self.apply_to_app(event, reaction),
            Event::Restart(event) => self.apply_to_restart(event, reaction),
            Event::Upgrade(event) => self.apply_to_upgrade(event, reaction),
            Event::Traffic(traffic) => life.processes.workers.update_traffic(&traffic),
            Event::MemoryRead(reading) => life.memory_read(&reading, reaction),
            Event::ClientsLimited(bytes) => reaction.limits.client_memory = bytes,
            Event::Tick(tick) => self.tick(&tick, reaction),
            Event::Scaled(elastic) => life.scale(elastic, reaction),
            Event::StopRequested => self.stop_requested(reaction),
        }
    }

    fn apply_to_process(&mut self, event: ProcessEvent, reaction: &mut Reaction) {
        let life = &mut self.lifecycle;
        let molds = &mut life.processes.molds;
        match event {
            ProcessEvent::MoldStarted { generation, pid } => molds.started(generation, pid),
            ProcessEvent::Hello { process, pid } => life.hello(process, pid, reaction),
            ProcessEvent::Ready(RubyProcess::Mold(generation)) => {
                life.mold_ready(generation, reaction);
            }
            ProcessEvent::Ready(RubyProcess::Worker(id)) => life.worker_ready(id, reaction),
            ProcessEvent::Ready(RubyProcess::App(id)) => life.apps.ready(id, reaction),
            ProcessEvent::BootFailed { process, cause } => {
                life.boot_failed(process, &cause, reaction);
            }
            ProcessEvent::NotForkSafe { generation, cause } => {
                if molds.is_candidate(generation) {
                    life.candidate_failed(&cause, true, reaction);
                }
            }
            ProcessEvent::Collected { process, .. } => {
                if let RubyProcess::Worker(id) = process {
                    let workers = &mut life.processes.workers;
                    workers.with(id, |it| it.collection.done(reaction.now));
                }
            }
            ProcessEvent::Closed(process) => life.closed(process, reaction),
            ProcessEvent::Exited { pid, status } => {
                if !self.successor_exited(pid, status, reaction) {
                    self.lifecycle.exited(pid, status, reaction);
                }
            }
        }
    }

    fn apply_to_worker(&mut self, event: WorkerEvent, reaction: &mut Reaction) {
        let life = &mut self.lifecycle;
        let workers = &mut life.processes.workers;
        match event {
            WorkerEvent::ForkFailed { worker, cause } => life.fork_failed(worker, &cause, reaction),
            WorkerEvent::ForkSafety { worker, result } => {
                life.fork_safety(worker, result, reaction);
            }
            WorkerEvent::Stack(report) => {
                workers.with(report.tag.worker, |it| it.log_stack(&report, reaction));
            }
            WorkerEvent::Leaving(id) => workers.with(id, |it| it.leave(reaction)),
            WorkerEvent::LaneLost(id) => workers.with(id, |it| it.lose_lane(reaction)),
            WorkerEvent::DescriptorsLost(id) => next_to_replace::mark_leaky(workers, id, reaction),
            WorkerEvent::Drained(id) => self.drained(id, reaction),
            WorkerEvent::LaneStuck { tag, request } => {
                workers.with(tag.worker, |it| it.get_stuck(tag, request, reaction));
            }
            WorkerEvent::KillRequested(id) => workers.with(id, |it| it.kill(reaction)),
        }
    }

    fn apply_to_app(&mut self, event: AppEvent, reaction: &mut Reaction) {
        let life = &mut self.lifecycle;
        match event {
            AppEvent::OneOffRequested { id, name } => life.apps.open_one_off(id, name, reaction),
            AppEvent::OneOffSignaled { id, signal } => {
                life.apps.one_offs.signal(id, signal, reaction);
            }
            AppEvent::OneOffLeft(id) => life.apps.one_offs.leave(id, reaction),
            AppEvent::GroupEnded(id) => life.group_ended(id, reaction),
            AppEvent::Load { meter, load } => life.load_measured(meter, load, reaction),
            AppEvent::Scaled { name, bounds } => life.apps.scale(&name, bounds, reaction),
            AppEvent::Replaced { name, number } => life.apps.replace(&name, number),
        }
    }

    /// Handles an event of a restart. An event of a restart that is over has no effect.
    fn apply_to_restart(&mut self, event: RestartEvent, reaction: &mut Reaction) {
        let life = &mut self.lifecycle;
        let (restarts, processes) = (&mut life.restarts, &mut life.processes);
        match event {
            RestartEvent::Requested => self.restart_requested(reaction),
            RestartEvent::CodeChanged => self.code_changed(reaction),
            RestartEvent::RollbackRequested => {
                if !self.is_stopping() {
                    self.lifecycle.roll_back(reaction);
                }
            }
            RestartEvent::SettingsRead {
                settings,
                unchanged,
            } => {
                if restarts.is_reading() {
                    restarts.settings_read(*settings, &unchanged, reaction);
                }
            }
            RestartEvent::SettingsFailed { cause } => {
                if restarts.is_reading() {
                    restarts.fail(&cause, processes, reaction);
                }
            }
            RestartEvent::Checked { worker, result } => {
                if restarts.is_trial(worker) {
                    life.checked(worker, result, reaction);
                }
            }
        }
    }

    fn apply_to_upgrade(&mut self, event: UpgradeEvent, reaction: &mut Reaction) {
        let life = &mut self.lifecycle;
        match event {
            UpgradeEvent::Requested => match self.upgrade_obstacle() {
                Some(cause) => reaction.log(LogLine::warn("no upgrade").text("cause", cause)),
                None => self.upgrades.begin(&mut self.lifecycle.processes, reaction),
            },
            UpgradeEvent::SuccessorStarted { pid } => self.upgrades.started(pid),
            UpgradeEvent::SuccessorReady { pid } => {
                if self.upgrades.ready(pid, reaction) {
                    self.phase = Phase::HandedOver(HandedOver {
                        until: reaction.now + reaction.limits.upgrade_timeout,
                        has_clients: true,
                    });
                }
            }
            UpgradeEvent::SuccessorFailed { pid, cause } => {
                self.upgrades.failed(pid, cause, reaction);
            }
            UpgradeEvent::PredecessorLeft => {
                if life.announcement.is_made {
                    life.apps.awaits_predecessor = false;
                } else {
                    reaction.fail("the old edge ended before this one was ready".to_owned());
                }
            }
        }
    }

    /// Handles that all lanes of a worker are empty: the worker is told to end, or to be the mold.
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

    /// Handles the exit of the new edge; returns whether the process was one. If the new edge died after it had taken
    /// over, this edge stops, so that the service manager sees that the server has failed.
    fn successor_exited(&mut self, pid: u32, status: ExitStatus, reaction: &mut Reaction) -> bool {
        // The process id is forgotten: another process may get it.
        let successor = self.upgrades.successor.take_if(|it| *it == pid);
        let had_taken_over = successor.is_some();
        // A new edge that was stopped, or was itself replaced, exits with 0.
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

    /// Begins or queues a restart because source files have changed.
    fn code_changed(&mut self, reaction: &mut Reaction) {
        if self.is_stopping() {
            // The old code serves the last requests.
            return reaction.push(Command::Clients(ClientsCommand::EndRestart(Ok(()))));
        }
        let (life, cause) = (&mut self.lifecycle, "source files have changed");
        self.upgrades.cancel(cause, reaction);
        life.restarts.begin_or_queue(&mut life.processes, reaction);
    }

    /// Handles SIGTERM, SIGINT, and `carat stop`. The first one begins the drain delay, the second one ends the delay
    /// and begins the stop, and a third one cuts the stop short.
    fn stop_requested(&mut self, reaction: &mut Reaction) {
        let delay = reaction.limits.drain_delay;
        match self.phase {
            // Before the first worker is ready, no load balancer counts on the server.
            Phase::Serving if self.lifecycle.announcement.is_made && !delay.is_zero() => {
                reaction.push(Command::Clients(ClientsCommand::TurnAway));
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
}
