//! The supervisor's decisions: plain state, events in, commands out. Nothing here does I/O or reads a clock.

mod boot_errors;
mod boots;
mod canary;
mod exits;
mod memory_monitor;
mod memory_pressure;
mod mold;
mod mold_life;
mod molds;
mod phase;
mod reaction;
mod refork;
mod reforking;
mod reloading;
mod restart;
mod restarting;
mod retiring;
mod rollback;
mod running_process;
mod scaling;
mod status;
mod stopping;
#[cfg(test)]
mod tests;
mod unclaimed_exits;
mod upgrade;
mod upgrading;
mod worker;
mod worker_stage;
mod worker_status;
mod workers;

use std::time::Instant;

use carat_policy::{Backoff, ReforkRule};

pub(crate) use self::memory_monitor::MemoryTotals;
pub(crate) use self::restart::RestartReport;
pub(crate) use self::running_process::RunningProcess;
pub(crate) use self::upgrade::UpgradeReport;
pub(crate) use self::worker_status::WorkerStatus;

use self::boot_errors::BootErrors;
use self::memory_monitor::MemoryMonitor;
use self::mold::Mold;
use self::molds::Molds;
use self::phase::Phase;
use self::reaction::Reaction;
use self::refork::Refork;
use self::restart::Restarts;
use self::unclaimed_exits::UnclaimedExits;
use self::upgrade::Upgrades;
use self::workers::Workers;
use super::command::{Command, Outcome};
use super::event::{Event, Tick};
use super::limits::Limits;
use super::ruby_process::RubyProcess;
use super::stats_report::Role;

/// The Ruby processes as the supervisor knows them, and what it wants of them.
#[derive(Debug)]
pub(crate) struct State {
    limits: Limits,
    phase: Phase,
    workers: Workers,
    /// How many workers should run.
    wanted: u32,
    worker_backoff: Backoff,
    molds: Molds,
    refork: Refork,
    restarts: Restarts,
    upgrades: Upgrades,
    memory: MemoryMonitor,
    boot_errors: BootErrors,
    unclaimed_exits: UnclaimedExits,
    is_announced: bool,
    /// It takes over from another edge.
    is_successor: bool,
}

impl State {
    /// Starts without a process. `oom_kills` is the kernel's current count.
    pub(crate) fn new(limits: Limits, refork: ReforkRule, oom_kills: u64, now: Instant) -> State {
        State {
            limits,
            phase: Phase::Serving,
            workers: Workers::default(),
            wanted: limits.elastic.min,
            worker_backoff: Backoff::default(),
            molds: Molds::default(),
            refork: Refork::new(refork, now),
            restarts: Restarts::default(),
            upgrades: Upgrades::default(),
            memory: MemoryMonitor::new(now, oom_kills),
            boot_errors: BootErrors::default(),
            unclaimed_exits: UnclaimedExits::default(),
            is_announced: false,
            is_successor: false,
        }
    }

    /// Handles one event, and returns what to do, in this order.
    pub(crate) fn on(&mut self, event: Event, now: Instant) -> Vec<Command> {
        let mut reaction = Reaction {
            now,
            limits: self.limits,
            commands: Vec::new(),
        };
        if !self.phase.is_over() {
            self.apply(event, &mut reaction);
            self.advance(&mut reaction);
        }
        reaction.commands
    }

    /// The processes whose ids are known, molds first.
    pub(crate) fn processes(&self) -> Vec<RunningProcess> {
        let current = self.molds.current.iter().map(|mold| (mold, Role::Mold));
        let previous = self.restarts.mold().map(|mold| (mold, Role::PreviousMold));
        let molds = current.chain(previous).chain(self.molds.others());
        let molds = molds.filter_map(|(mold, role)| RunningProcess::of_mold(mold, role));
        let workers = self.workers.iter().filter_map(RunningProcess::of_worker);
        molds.chain(workers).collect()
    }

    /// The molds that do not fork: those that are coming, ending, or kept.
    fn other_molds(&self) -> impl Iterator<Item = &Mold> {
        let others = self.molds.others().map(|(mold, _)| mold);
        others.chain(self.restarts.mold())
    }

    /// The memory of all processes together, when it was last read.
    pub(crate) fn memory_totals(&self) -> Option<MemoryTotals> {
        self.memory.totals
    }

    /// The table of events.
    fn apply(&mut self, event: Event, reaction: &mut Reaction) {
        match event {
            Event::MoldStarted { generation, pid } => self.mold_started(generation, pid),
            Event::MoldStartFailed { generation, cause } => {
                let cause = format!("cannot start the mold: {cause}");
                self.boot_failed(RubyProcess::Mold(generation), &cause, reaction);
            }
            Event::ForkFailed { worker, cause } => self.fork_failed(worker, &cause, reaction),
            Event::Hello { process, pid } => self.hello(process, pid, reaction),
            Event::Ready(process) => self.ready(process, reaction),
            Event::BootFailed { process, cause } => self.boot_failed(process, &cause, reaction),
            Event::NotForkSafe { generation, cause } => {
                self.not_fork_safe(generation, &cause, reaction);
            }
            Event::ForkSafety { worker, result } => self.fork_safety(worker, result, reaction),
            Event::Stack { worker, lane, text } => self.log_stack(worker, lane, &text, reaction),
            Event::Leaving(worker) => self.leave(worker, reaction),
            Event::Closed(process) => self.control_closed(process, reaction),
            Event::LaneLost(worker) => self.lane_lost(worker, reaction),
            Event::DescriptorsLost(worker) => self.descriptors_lost(worker, reaction),
            Event::Drained(worker) => self.drained(worker, reaction),
            Event::LaneStuck { tag, request } => self.lane_stuck(tag, request, reaction),
            Event::Traffic(traffic) => self.workers.update_traffic(&traffic),
            Event::MemoryRead(reading) => self.memory_read(&reading, reaction),
            Event::Exited { pid, status } => self.exited(pid, status, reaction),
            Event::Tick(tick) => self.tick(&tick, reaction),
            Event::RestartRequested => self.restart_requested(reaction),
            Event::ReloadRequested => self.reload_requested(reaction),
            Event::CanaryRequested { percent } => self.canary_requested(percent, reaction),
            Event::GoRequested => self.go_requested(reaction),
            Event::RollbackRequested => self.rollback_requested(reaction),
            Event::SettingsRead(settings, unchanged) => {
                self.settings_read(*settings, &unchanged, reaction);
            }
            Event::SettingsFailed { cause } => self.settings_failed(&cause, reaction),
            Event::Checked { worker, result } => self.checked(worker, result, reaction),
            Event::UpgradeRequested => self.upgrade_requested(reaction),
            Event::SuccessorStarted { pid } => self.successor_started(pid),
            Event::SuccessorReady { upgrade } => self.successor_ready(upgrade, reaction),
            Event::SuccessorServes { upgrade } => self.successor_serves(upgrade, reaction),
            Event::SuccessorFailed { upgrade, cause } => {
                self.successor_failed(upgrade, cause, reaction);
            }
            Event::PredecessorUses { bytes } => self.predecessor_uses(bytes, reaction),
            Event::Scaled(elastic) => self.scale(elastic, reaction),
            Event::KillRequested(worker) => self.kill_requested(worker, reaction),
            Event::StopRequested => self.stop_requested(reaction),
        }
    }

    /// What follows every event.
    fn advance(&mut self, reaction: &mut Reaction) {
        match self.phase {
            Phase::Serving => self.keep_up(reaction),
            Phase::Draining(delay) => self.advance_draining(delay, reaction),
            Phase::HandedOver(handed) => self.advance_handed_over(handed, reaction),
            Phase::Stopping(_) => self.advance_stop(reaction),
            Phase::Over => {}
        }
    }

    fn tick(&mut self, tick: &Tick, reaction: &mut Reaction) {
        match &mut self.phase {
            Phase::Serving | Phase::Draining(_) => self.follow_load(tick, reaction),
            Phase::HandedOver(_) => self.follow_clients(tick, reaction),
            Phase::Stopping(stop) => stop.has_clients = tick.has_clients,
            Phase::Over => {}
        }
    }

    /// Starts what is missing and ends what is overdue.
    fn keep_up(&mut self, reaction: &mut Reaction) {
        self.unclaimed_exits.forget_old(reaction.now);
        self.keep_mold(reaction);
        if self.phase.is_over() {
            return;
        }
        self.fail_late_boots(reaction);
        self.end_overdue(reaction);
        self.read_memory(reaction);
        self.advance_restart(reaction);
        self.advance_upgrade(reaction);
        self.succeed(reaction);
        self.fork_missing(reaction);
        self.announce_successor(reaction);
    }

    /// The server cannot go on.
    fn fail(&mut self, cause: String, reaction: &mut Reaction) {
        self.exit(Outcome::Failed(cause), reaction);
    }

    fn exit(&mut self, outcome: Outcome, reaction: &mut Reaction) {
        self.phase = Phase::Over;
        reaction.push(Command::Exit(outcome));
    }
}
