//! The Ruby processes as the supervisor knows them: how they boot, and what their ends mean.

mod boot_errors;
pub(super) mod leaving_molds;
pub(super) mod memory_monitor;
pub(super) mod mold;
pub(super) mod molds;
pub(super) mod running_process;
mod unclaimed_exits;
pub(super) mod worker;
pub(super) mod worker_collection;
mod worker_stage;
pub(super) mod worker_status;
pub(super) mod workers;

use std::time::Instant;

use carat_policy::ByteSize;

use self::boot_errors::BootErrors;
use self::leaving_molds::LeavingKind;
use self::memory_monitor::MemoryMonitor;
use self::mold::Mold;
use self::molds::Molds;
use self::running_process::RunningProcess;
use self::unclaimed_exits::UnclaimedExits;
use self::worker::{Worker, WorkerBoot, WorkerRole};
use self::worker_stage::WorkerStage;
use self::worker_status::WorkerStatus;
use self::workers::Workers;
use super::reaction::{KILL_AFTER, Reaction};
use crate::command::{AppSubject, Command, WorkerCommand};
use crate::exit_status::ExitStatus;
use crate::generation_settings::GenerationSettings;
use crate::log_line::LogLine;
use crate::reading::MemoryReading;
use crate::ruby_process::RubyProcess;
use carat_log::WorkerId;

/// The first generation. If its mold cannot load the application, the server ends.
const FIRST_GENERATION: u32 = 1;

/// The running processes, and the errors of the processes that did not boot.
#[derive(Debug)]
pub struct Processes {
    pub workers: Workers,
    pub molds: Molds,
    pub memory: MemoryMonitor,
    pub(super) unclaimed_exits: UnclaimedExits,
    boot_errors: BootErrors,
}

impl Processes {
    pub(super) fn new(wanted: u32, oom_kills: u64, now: Instant) -> Processes {
        Processes {
            workers: Workers::wanting(wanted),
            molds: Molds::default(),
            memory: MemoryMonitor::new(now, oom_kills),
            unclaimed_exits: UnclaimedExits::default(),
            boot_errors: BootErrors::default(),
        }
    }

    /// The processes whose process ids are known, molds first.
    pub fn running(&self) -> Vec<RunningProcess> {
        let molds = self.molds.iter();
        let molds = molds.filter_map(|(mold, role)| RunningProcess::of_mold(mold, role));
        let workers = self.workers.iter().filter_map(RunningProcess::of_worker);
        molds.chain(workers).collect()
    }

    /// The generation of the mold that forks.
    pub fn generation(&self) -> Option<u32> {
        self.molds.ready().map(|mold| mold.generation)
    }

    /// How many workers of older generations are left.
    pub fn old_workers(&self) -> usize {
        let oldest = self.molds.oldest_generation;
        let workers = self.workers.iter();
        workers.filter(|it| it.generation < oldest).count()
    }

    /// The workers with a known process id.
    pub fn workers_by_number(&self) -> Vec<(WorkerId, u32)> {
        let workers = self.workers.iter();
        workers.filter_map(|it| Some((it.id, it.pid?))).collect()
    }

    pub fn worker_statuses(&self, now: Instant) -> impl Iterator<Item = WorkerStatus> {
        self.workers.iter().map(move |it| WorkerStatus::of(it, now))
    }

    /// Orders a reading of the memory of all processes when one is due.
    pub(super) fn read_memory(&mut self, apps: Vec<AppSubject>, reaction: &mut Reaction) {
        self.memory.read(&self.workers, &self.molds, apps, reaction);
    }

    /// The memory of all processes was read.
    pub(super) fn record_memory(&mut self, reading: &MemoryReading, reaction: &mut Reaction) {
        self.memory
            .record(reading, &mut self.workers, &mut self.molds, reaction);
    }

    /// How many more workers fit.
    pub(super) fn room(&self) -> u32 {
        self.memory.room(&self.workers, &self.molds)
    }

    /// How many more workers fit if they are busy from the start.
    pub(super) fn busy_room(&self) -> u32 {
        self.memory.busy_room(&self.workers, &self.molds)
    }

    /// Whether the last reading shows that no worker fits.
    pub(super) fn has_no_room(&self, now: Instant) -> bool {
        self.memory.is_current(now) && self.room() == 0
    }

    /// Whether there is no memory for another worker beside the ones that serve.
    pub(super) fn is_full(&self) -> bool {
        self.workers.booting() == 0 && self.workers.serving() > 0 && self.room() == 0
    }

    /// Whether a worker or a mold is ending. Its memory will soon be free.
    pub(super) fn is_anyone_leaving(&self) -> bool {
        self.workers.is_anyone_leaving() || !self.molds.leaving.is_empty()
    }

    /// How many bytes are missing for a second mold. `None` while that is not known, and until a refork that is under
    /// way has ended.
    pub(super) fn missing_for_mold(&self, now: Instant) -> Option<u64> {
        let is_known = self.memory.knows_all(&self.workers, &self.molds, now);
        let may_boot = self.molds.candidate.is_none() && is_known;
        may_boot.then(|| self.memory.missing_for_mold())
    }

    /// Forks a worker.
    pub(super) fn fork(
        &mut self,
        generation: u32,
        role: WorkerRole,
        reaction: &mut Reaction,
    ) -> WorkerId {
        let id = self.workers.next_id();
        let mut worker = Worker::forked(id, generation, reaction);
        worker.role = role;
        self.workers.insert(worker);
        reaction.push(Command::Worker(WorkerCommand::Fork {
            worker: id,
            generation,
            is_trial: role == WorkerRole::Trial,
        }));
        id
    }

    /// Forks the workers that are missing, as far as there is memory for them. At most `most` may run.
    pub(super) fn fork_missing(&mut self, most: u32, reaction: &mut Reaction) {
        let Some(generation) = self.generation() else {
            return;
        };
        if self.workers.backoff.allows(reaction.now) {
            let most = most.min(self.workers.wanted);
            let missing = most.saturating_sub(self.workers.staying());
            for _ in 0..self.affordable(missing, reaction) {
                self.fork(generation, WorkerRole::Regular, reaction);
            }
        }
    }

    /// How many of the `missing` workers may be forked now. One worker always runs, whatever the budget.
    fn affordable(&mut self, missing: u32, reaction: &mut Reaction) -> u32 {
        if missing == 0 {
            self.memory.end_shortage();
            return 0;
        }
        let (workers, memory) = (&self.workers, &mut self.memory);
        let staying = workers.staying();
        let room = memory.room(workers, &self.molds);
        let allowed = room.max(u32::from(staying == 0)).min(missing);
        let is_changing = !workers.retirements().is_empty()
            || workers.booting() > 0
            || !memory.is_current(reaction.now);
        if allowed == 0 && !is_changing {
            memory.warn_of_shortage(staying, workers.wanted, reaction);
        }
        allowed
    }

    pub(super) fn log_fork_failure(&mut self, cause: &str, reaction: &mut Reaction) {
        // Several forks that fail at the same time are logged once.
        if self.workers.backoff.allows(reaction.now) {
            reaction.log(LogLine::error("cannot fork a worker").text("cause", cause));
        }
        self.workers.backoff.fail(reaction.now);
    }

    /// Handles the boot of a process: memory is read again, and the next boot error is logged in full.
    fn booted(&mut self, now: Instant) {
        self.memory.read_soon(now);
        self.boot_errors.forget();
    }

    /// A worker serves from now on.
    pub(super) fn worker_serves(&mut self, id: WorkerId, reaction: &mut Reaction) {
        self.workers.with(id, |worker| worker.serve(reaction));
        self.workers.backoff.succeed();
        self.booted(reaction.now);
    }

    /// Logs that a worker failed to boot. The next fork waits.
    pub(super) fn log_boot_failure(&mut self, id: WorkerId, cause: &str, reaction: &mut Reaction) {
        if let Some(worker) = self.workers.get(id) {
            let line = worker.identify(LogLine::error("worker failed to boot"));
            let delay = self.workers.backoff.fail(reaction.now);
            reaction.log(self.boot_errors.line(line, delay, cause));
        }
    }

    /// Ends a worker that has not served yet.
    pub(super) fn abandon(&mut self, id: WorkerId, reaction: &mut Reaction) {
        let Some(worker) = self.workers.get_mut(id) else {
            return;
        };
        worker.boot = WorkerBoot::Failed;
        if worker.pid.is_some() {
            return reaction.kill(worker.pid);
        }
        // If the process ever starts, it finds its control socket closed.
        self.worker_exited(id, ExitStatus::Unknown, reaction);
    }

    /// Handles a worker that closed its control socket: it is dead or dying, or must be made to end. Returns true if it
    /// never started.
    pub(super) fn worker_closed(&mut self, id: WorkerId, reaction: &mut Reaction) -> bool {
        let Some(worker) = self.workers.get_mut(id) else {
            return false;
        };
        if worker.pid.is_some() && !worker.stage.is_last() {
            worker.stage = WorkerStage::Lost {
                deadline: reaction.now + KILL_AFTER,
            };
            if worker.boot == WorkerBoot::Pending {
                self.workers.backoff.fail(reaction.now);
            }
            return false;
        }
        worker.pid.is_none()
    }

    /// Forgets a dead worker, and closes its lanes. False if it is not known.
    pub(super) fn worker_exited(
        &mut self,
        id: WorkerId,
        status: ExitStatus,
        reaction: &mut Reaction,
    ) -> bool {
        let Some(worker) = self.workers.remove(id) else {
            return false;
        };
        self.memory.read_soon(reaction.now);
        reaction.push(Command::Worker(WorkerCommand::CloseLanes(id)));
        reaction.push(Command::CloseControl(RubyProcess::Worker(id)));
        if let Some(line) = self.exit_line(&worker, status, reaction) {
            reaction.log(line);
        }
        true
    }

    /// The log line of a worker's exit; `None` if the log already says why the worker cannot boot.
    fn exit_line(
        &mut self,
        worker: &Worker,
        status: ExitStatus,
        reaction: &Reaction,
    ) -> Option<LogLine> {
        if worker.expected(status) {
            let ended = worker.identify(LogLine::info("worker ended"));
            return Some(ended.text("cause", status));
        }
        let line = match worker.boot {
            WorkerBoot::Failed => return None,
            WorkerBoot::Pending => {
                let died = worker.identify(LogLine::error("worker died while booting"));
                let delay = self.workers.backoff.fail(reaction.now);
                return Some(self.boot_errors.line(died, delay, &status.to_string()));
            }
            WorkerBoot::Done if self.is_oom(status, reaction.now) => {
                LogLine::warn("worker was killed by the OOM killer")
            }
            WorkerBoot::Done => LogLine::error("worker died"),
        };
        Some(worker.identify(line).text("cause", status))
    }

    /// Whether the OOM killer explains how a process ended.
    pub(super) fn is_oom(&mut self, status: ExitStatus, now: Instant) -> bool {
        let kills = status.kill();
        kills.is_some_and(|kills| self.memory.explains_kill(kills, now))
    }

    /// Starts a mold if there is none, and ends one that does not load the application in time.
    pub(super) fn keep_mold(&mut self, reaction: &mut Reaction) {
        let limit = reaction.limits.boot_timeout;
        let Some(mold) = &self.molds.current else {
            return self.molds.boot_missing(reaction);
        };
        if !mold.is_ready && mold.boot_time(reaction.now) > limit {
            mold.kill(reaction);
            let cause = format!("the application did not load within {limit:?} (boot_timeout)");
            self.mold_failed(&cause, reaction);
        }
    }

    /// Notes that the current mold can fork.
    pub(super) fn mold_ready(&mut self, generation: u32, reaction: &mut Reaction) {
        if let Some(mold) = self.molds.current_mut(generation) {
            mold.set_ready(reaction);
            self.molds.backoff.succeed();
            self.booted(reaction.now);
        }
    }

    /// Handles the death of the current mold.
    pub(super) fn mold_exited(&mut self, status: ExitStatus, reaction: &mut Reaction) {
        let Some(mold) = self.molds.current.take() else {
            return;
        };
        let is_oom = self.is_oom(status, reaction.now);
        let killer = if is_oom { " of the OOM killer" } else { "" };
        let cause = format!("{status}{killer}");
        reaction.push(Command::CloseControl(RubyProcess::Mold(mold.generation)));
        if mold.is_ready {
            let line = mold.identify(LogLine::error("mold died"));
            reaction.log(line.text("cause", cause));
            self.molds.backoff.fail(reaction.now);
        } else {
            self.boot_error(&mold, &format!("the mold ended ({cause})"), reaction);
        }
    }

    /// Handles that the current mold could not load the application. It ends by itself, or is killed.
    pub(super) fn mold_failed(&mut self, cause: &str, reaction: &mut Reaction) {
        let Some(mold) = self.molds.current.take() else {
            return;
        };
        self.boot_error(&mold, cause, reaction);
        reaction.push(Command::CloseControl(RubyProcess::Mold(mold.generation)));
        let deadline = reaction.now + KILL_AFTER;
        self.molds.leaving.add(mold, LeavingKind::Failed, deadline);
    }

    /// Logs that the application could not be loaded. At the first boot, the server ends.
    fn boot_error(&mut self, mold: &Mold, cause: &str, reaction: &mut Reaction) {
        if mold.generation == FIRST_GENERATION {
            return reaction.fail(cause.to_owned());
        }
        let delay = self.molds.backoff.fail(reaction.now);
        let line = mold.identify(LogLine::error("mold failed to boot"));
        reaction.log(self.boot_errors.line(line, delay, cause));
    }

    /// Makes the candidate the mold, and ends the old mold.
    pub(super) fn take_over(&mut self, mut mold: Mold, reaction: &mut Reaction) {
        mold.is_ready = true;
        self.molds.oldest_generation = mold.generation;
        self.workers.iter_mut().for_each(Worker::begin_generation);
        if let Some(old) = self.molds.current.replace(mold) {
            reaction.push(Command::End(RubyProcess::Mold(old.generation)));
            let deadline = reaction.now + reaction.limits.shutdown_timeout;
            self.molds.leaving.add(old, LeavingKind::Retired, deadline);
        }
    }

    /// Makes a mold the current one, and keeps the old mold with its settings. Workers of older generations are
    /// replaced.
    pub(super) fn install(
        &mut self,
        mold: Mold,
        kept: GenerationSettings,
        reaction: &mut Reaction,
    ) {
        let generation = mold.generation;
        if let Some(old) = self.molds.current.replace(mold) {
            self.molds.keep_previous(old, kept, reaction);
        }
        self.molds.oldest_generation = generation;
        self.molds.backoff.succeed();
        self.workers.backoff.succeed();
        self.memory.read_soon(reaction.now);
        for worker in self.workers.iter_mut() {
            worker.begin_generation();
            worker.forgo_promotion();
        }
        // Workers of older generations that are still booting are ended: their molds may not fork them any more.
        for id in self.workers.booting_before(generation) {
            self.abandon(id, reaction);
        }
    }
}

/// Why there is no second mold.
pub(super) fn no_room(missing: u64) -> String {
    let missing = ByteSize(missing);
    format!("no memory for a second mold: {missing} more is needed (memory)")
}
