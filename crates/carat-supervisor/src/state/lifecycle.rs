//! The lifecycle of the processes: what their boots and ends mean to the restart or the refork under way, and how one
//! mold follows another.

use carat_policy::{Elastic, ReplacementReason};

use super::announcement::Announcement;
use super::app_processes::AppProcesses;
use super::next_to_replace::{self, NextToReplace};
use super::processes::Processes;
use super::processes::mold::Mold;
use super::processes::molds::PreviousMold;
use super::processes::worker::{Worker, WorkerBoot, WorkerRole};
use super::reaction::Reaction;
use super::refork::Refork;
use super::restart::{BootFailure, Restarts, retire_old_code};
use super::scaling;
use crate::command::{Command, MoldCommand, WorkerCommand};
use crate::exit_status::ExitStatus;
use crate::generation_settings::GenerationSettings;
use crate::log_line::LogLine;
use crate::reading::{MemoryReading, Tick};
use crate::ruby_process::{AppProcessId, RubyProcess};
use carat_log::WorkerId;

/// The processes, and the components that replace them.
#[derive(Debug)]
pub(super) struct Lifecycle {
    pub(super) processes: Processes,
    pub(super) next_to_replace: NextToReplace,
    pub(super) refork: Refork,
    pub(super) restarts: Restarts,
    pub(super) announcement: Announcement,
    pub(super) apps: AppProcesses,
}

impl Lifecycle {
    /// Starts the processes that are missing, and ends the ones that are overdue.
    pub(super) fn keep_up(&mut self, reaction: &mut Reaction) {
        self.processes.unclaimed_exits.forget_old(reaction.now);
        self.processes.keep_mold(reaction);
        if reaction.is_over() {
            return;
        }
        self.fail_late_boots(reaction);
        self.end_overdue(reaction);
        self.processes.read_memory(self.apps.groups(), reaction);
        let may_begin = self.announcement.is_made;
        let apps = self.apps.room(reaction);
        self.restarts
            .advance(may_begin, apps, &mut self.processes, reaction);
        if let Some(worker) = next_to_replace::succeed(&mut self.processes, reaction) {
            let cause = "no memory for its successor (memory)";
            self.refork.give_up(worker, cause, reaction);
        }
        let most = self.restarts.most_workers();
        self.processes.fork_missing(most, reaction);
        self.announcement.advance(&self.processes, reaction);
    }

    /// Does the work of a tick while clients may come: the number of workers follows the load, and workers are
    /// replaced.
    pub(super) fn follow_load(&mut self, tick: &Tick, reaction: &mut Reaction) {
        scaling::grow(&mut self.processes, tick, reaction);
        scaling::shrink(&mut self.processes.workers, reaction);
        self.retire_surplus(reaction);
        next_to_replace::mark_due(&mut self.processes.workers, reaction);
        self.processes.workers.trim_idle(reaction);
        self.follow_generations(reaction);
    }

    /// Lowers the number of workers with the number of clients: a new edge has taken over, and no client comes any
    /// more.
    pub(super) fn follow_clients(&mut self, clients: usize, reaction: &mut Reaction) {
        scaling::follow_clients(&mut self.processes.workers, clients, reaction);
        self.retire_surplus(reaction);
    }

    /// Ends the workers that are too many. A restart that replaces workers chooses them itself: the workers of the old
    /// code end first.
    fn retire_surplus(&mut self, reaction: &mut Reaction) {
        if !self.restarts.is_replacing() {
            scaling::retire_surplus(&mut self.processes.workers, reaction);
        }
    }

    /// Replaces the workers of older generations, one after another; then another worker may become the mold.
    pub(super) fn follow_generations(&mut self, reaction: &mut Reaction) {
        self.fail_late_candidate(reaction);
        let Processes { workers, molds, .. } = &mut self.processes;
        molds.leaving.kill_overdue(reaction);
        if molds.candidate.is_some() || workers.iter().any(Worker::is_promoted) {
            return;
        }
        let reason = if self.restarts.is_replacing() {
            ReplacementReason::Restart
        } else {
            ReplacementReason::Outdated
        };
        let oldest = molds.oldest_generation;
        let is_left = next_to_replace::mark_outdated(workers, oldest, reason, reaction);
        let may_begin = !is_left && !self.restarts.is_under_way();
        self.refork
            .advance(may_begin, &mut self.processes, reaction);
    }

    /// Records a memory reading. A container may be resized; then the bounds of the number of workers change, too.
    pub(super) fn memory_read(&mut self, reading: &MemoryReading, reaction: &mut Reaction) {
        let elastic = reaction.limits.elastic.on(reading.processors);
        if elastic != reaction.limits.elastic {
            self.scale(elastic, reaction);
        }
        self.processes.record_memory(reading, reaction);
        self.apps.record_memory(&reading.apps, reaction);
        let next = &mut self.next_to_replace;
        next.mark_heavy(&mut self.processes, reading.at, reaction);
    }

    /// Sets the bounds of the number of workers.
    pub(super) fn scale(&mut self, elastic: Elastic, reaction: &mut Reaction) {
        reaction.limits.elastic = elastic;
        let workers = &mut self.processes.workers;
        workers.wanted = workers.wanted.clamp(elastic.min, elastic.max);
        let most = elastic.max;
        reaction.push(Command::DivideFiles { workers: most });
        let line = LogLine::info("workers scaled").number("min", elastic.min);
        let line = line.number("max", elastic.max);
        reaction.log(line.number("wanted", workers.wanted));
    }

    /// Starts and ends the further processes of the application. They start when the server serves.
    pub(super) fn keep_apps(&mut self, reaction: &mut Reaction) {
        let generation = self.processes.generation();
        let generation = generation.filter(|_| self.announcement.is_made);
        self.apps.advance(generation, reaction);
        let is_soon = self.restarts.lets_apps_return();
        self.processes.memory.app_growth = self.apps.growth(is_soon, reaction.now);
    }

    /// Passes on a measured load of further processes of the application.
    pub(super) fn load_measured(
        &mut self,
        meter: AppProcessId,
        load: f64,
        reaction: &mut Reaction,
    ) {
        let processes = &self.processes;
        let fits = |bytes| processes.room() > 0 && processes.memory.fits(bytes);
        self.apps.measured(meter, load, fits, reaction);
    }

    /// Notes the process id from the first message of a process. The process may have ended since.
    pub(super) fn hello(&mut self, process: RubyProcess, pid: u32, reaction: &mut Reaction) {
        let id = match process {
            RubyProcess::Mold(_) => return,
            RubyProcess::Worker(id) => id,
            RubyProcess::App(id) => {
                self.apps.hello(id, pid, reaction);
                self.read_memory_soon(id, reaction);
                if let Some(status) = self.processes.unclaimed_exits.claim(pid) {
                    self.app_exited(id, status, reaction);
                }
                return;
            }
        };
        if let Some(worker) = self.processes.workers.get_mut(id) {
            worker.pid = Some(pid);
            if let Some(status) = self.processes.unclaimed_exits.claim(pid) {
                self.worker_exited(id, status, reaction);
            }
        }
    }

    pub(super) fn mold_ready(&mut self, generation: u32, reaction: &mut Reaction) {
        if self.processes.molds.is_candidate(generation) {
            if self.processes.molds.is_restarting() {
                return self.restarts.loaded(&mut self.processes, reaction);
            }
            self.refork.take_over(&mut self.processes, reaction);
            self.apps.begin_refork();
        }
        self.processes.mold_ready(generation, reaction);
    }

    pub(super) fn worker_ready(&mut self, id: WorkerId, reaction: &mut Reaction) {
        let Some(worker) = self.processes.workers.get_mut(id) else {
            return;
        };
        worker.boot = WorkerBoot::Done;
        if worker.is_trial() {
            // The worker is still killed at the deadline of its boot.
            let generation = worker.generation;
            return reaction.push(Command::Worker(WorkerCommand::Check {
                worker: id,
                generation,
            }));
        }
        if !worker.is_booting() {
            return;
        }
        self.processes.worker_serves(id, reaction);
        self.announcement.worker_serves(reaction);
        self.restarts.worker_serves(reaction);
        self.processes.workers.with(id, |worker| {
            if worker.has_lost_lane {
                worker.lose_lane(reaction);
            }
        });
    }

    /// Handles the reply of a worker that was asked whether it could be the mold.
    pub(super) fn fork_safety(
        &mut self,
        id: WorkerId,
        result: Result<(), String>,
        reaction: &mut Reaction,
    ) {
        let processes = &mut self.processes;
        let Some(worker) = self.refork.take_reply(id, &mut processes.workers) else {
            return;
        };
        match result {
            Err(cause) => self.refork.give_up(worker, &cause, reaction),
            // A worker is asked again when the restart is over.
            Ok(()) if self.restarts.is_under_way() => {}
            Ok(()) => self.refork.begin(id, processes, reaction),
        }
    }

    pub(super) fn fork_failed(&mut self, id: WorkerId, cause: &str, reaction: &mut Reaction) {
        let processes = &mut self.processes;
        processes.workers.remove(id);
        self.restarts.trial_failed(id, cause, processes, reaction);
        processes.log_fork_failure(cause, reaction);
    }

    /// Handles a process that cannot boot. `cause` is in the words of the process or of the mold.
    pub(super) fn boot_failed(
        &mut self,
        process: RubyProcess,
        cause: &str,
        reaction: &mut Reaction,
    ) {
        let molds = &mut self.processes.molds;
        match process {
            RubyProcess::Mold(generation) if molds.is_candidate(generation) => {
                self.candidate_failed(cause, false, reaction);
            }
            RubyProcess::Mold(generation) if molds.current_mut(generation).is_some() => {
                self.processes.mold_failed(cause, reaction);
            }
            RubyProcess::Mold(_) => {}
            RubyProcess::Worker(id) => self.worker_boot_failed(id, cause, reaction),
            RubyProcess::App(id) => self.apps.failed(id, cause, reaction),
        }
    }

    fn worker_boot_failed(&mut self, id: WorkerId, cause: &str, reaction: &mut Reaction) {
        let (restarts, processes) = (&mut self.restarts, &mut self.processes);
        let Some(worker) = processes.workers.get_mut(id) else {
            return;
        };
        worker.boot = WorkerBoot::Failed;
        let generation = worker.generation;
        if worker.is_trial() {
            return restarts.trial_failed(id, cause, processes, reaction);
        }
        let announcement = &self.announcement;
        let is_first = announcement.is_of_successor && !announcement.is_made;
        if is_first && processes.workers.serving() == 0 {
            // The new edge gives up, as a restart does when its first worker fails. The old edge continues to serve,
            // and logs the cause.
            return reaction.fail(format!("the first new worker failed: {cause}"));
        }
        match restarts.count_failure(generation, processes.molds.oldest_generation) {
            BootFailure::Retry => {}
            BootFailure::GoBack => {
                if self.go_back(reaction) {
                    self.restarts.set_undone(cause);
                }
            }
        }
        self.processes.log_boot_failure(id, cause, reaction);
    }

    /// Counts workers that are not ready in time as failed.
    pub(super) fn fail_late_boots(&mut self, reaction: &mut Reaction) {
        for id in self.processes.workers.late_boots(reaction.now) {
            let limit = match self.processes.workers.get(id) {
                Some(worker) if worker.is_trial() => self.restarts.boot_timeout(reaction),
                Some(_) | None => reaction.limits.boot_timeout,
            };
            let cause = format!("not ready within {limit:?} (boot_timeout)");
            self.worker_boot_failed(id, &cause, reaction);
            let worker = self.processes.workers.get(id);
            if let Some(worker) = worker.filter(|it| it.pid.is_none()) {
                let generation = worker.generation;
                self.worker_exited(id, ExitStatus::Unknown, reaction);
                self.processes.molds.kill_stuck(generation, reaction);
            }
        }
    }

    /// Sends SIGTERM to the workers whose time is over, and SIGKILL to the workers that already got SIGTERM.
    pub(super) fn end_overdue(&mut self, reaction: &mut Reaction) {
        let workers = &mut self.processes.workers;
        self.refork.give_up_overdue(workers, reaction);
        workers.iter_mut().for_each(|it| it.end_overdue(reaction));
    }

    /// Handles a closed control socket: the process is dead or dying, or must be made to end.
    pub(super) fn closed(&mut self, process: RubyProcess, reaction: &mut Reaction) {
        let molds = &mut self.processes.molds;
        match process {
            RubyProcess::Mold(generation) if molds.is_candidate(generation) => {
                molds.kill_candidate(reaction);
                self.candidate_failed("it closed its control socket", false, reaction);
            }
            RubyProcess::Mold(generation) => {
                if !molds.lose_previous(|mold| mold.generation == generation, reaction) {
                    let mold = molds.ready().filter(|it| it.generation == generation);
                    mold.inspect(|mold| mold.kill(reaction));
                }
            }
            RubyProcess::Worker(id) => {
                if self.processes.worker_closed(id, reaction) {
                    self.worker_exited(id, ExitStatus::Unknown, reaction);
                }
            }
            RubyProcess::App(id) => self.apps.closed(id, reaction),
        }
    }

    /// Handles the end of a child process.
    pub(super) fn exited(&mut self, pid: u32, status: ExitStatus, reaction: &mut Reaction) {
        let molds = &self.processes.molds;
        let is_mold = |mold: &Mold| mold.pid == Some(pid);
        if let Some(id) = self.processes.workers.with_pid(pid) {
            self.worker_exited(id, status, reaction);
        } else if molds.current.as_ref().is_some_and(is_mold) {
            self.processes.mold_exited(status, reaction);
        } else if let Some(id) = self.apps.with_pid(pid) {
            self.app_exited(id, status, reaction);
        } else {
            if molds.next().is_some_and(is_mold) {
                self.candidate_failed(&format!("it ended ({status})"), false, reaction);
            }
            let processes = &mut self.processes;
            processes.molds.lose_previous(is_mold, reaction);
            let leaving = &mut processes.molds.leaving;
            if leaving.forget(pid, &status.to_string(), reaction) {
                // A restart that waits for memory must not count the memory of the mold that has ended.
                processes.memory.read_soon(reaction.now);
            } else {
                processes.unclaimed_exits.add(reaction.now, pid, status);
            }
        }
    }

    /// Has memory read again, unless the process measures a load: such a process ends before its memory matters.
    fn read_memory_soon(&mut self, id: AppProcessId, reaction: &Reaction) {
        if !self.apps.is_meter(id) {
            self.processes.memory.read_soon(reaction.now);
        }
    }

    fn app_exited(&mut self, id: AppProcessId, status: ExitStatus, reaction: &mut Reaction) {
        self.read_memory_soon(id, reaction);
        let is_oom = self.processes.is_oom(status, reaction.now);
        self.apps.exited(id, status, is_oom, reaction);
    }

    /// Handles the end of a further process and all of its descendants: their memory is free.
    pub(super) fn group_ended(&mut self, id: AppProcessId, reaction: &Reaction) {
        self.apps.group_ended(id);
        self.processes.memory.read_soon(reaction.now);
    }

    fn worker_exited(&mut self, id: WorkerId, status: ExitStatus, reaction: &mut Reaction) {
        let processes = &mut self.processes;
        if processes.worker_exited(id, status, reaction) {
            let cause = status.to_string();
            self.restarts.trial_failed(id, &cause, processes, reaction);
        }
    }

    /// Handles a candidate that cannot be the mold. `is_final` says whether no other worker of its generation can be it
    /// either.
    pub(super) fn candidate_failed(
        &mut self,
        cause: &str,
        is_final: bool,
        reaction: &mut Reaction,
    ) {
        let processes = &mut self.processes;
        if processes.molds.is_restarting() {
            self.restarts.fail(cause, processes, reaction);
        } else {
            self.refork
                .candidate_failed(cause, is_final, processes, reaction);
        }
    }

    /// Fails a candidate that is not ready in time. In a restart the new settings' `boot_timeout` counts.
    fn fail_late_candidate(&mut self, reaction: &mut Reaction) {
        let limit = self.restarts.boot_timeout(reaction);
        let molds = &self.processes.molds;
        let loading = molds.next().filter(|mold| !mold.is_ready);
        if loading.is_some_and(|mold| mold.boot_time(reaction.now) > limit) {
            molds.kill_candidate(reaction);
            let cause = format!("not ready within {limit:?} (boot_timeout)");
            self.candidate_failed(&cause, false, reaction);
        }
    }

    /// Handles the result of the trial: the worker gave the expected responses, or not.
    pub(super) fn checked(
        &mut self,
        id: WorkerId,
        result: Result<(), String>,
        reaction: &mut Reaction,
    ) {
        if let Err(cause) = result {
            return self.restarts.fail(&cause, &mut self.processes, reaction);
        }
        let molds = &mut self.processes.molds;
        if let Some((mold, settings)) = self.restarts.take_new_code(molds) {
            self.install(mold, settings, reaction);
        }
        let workers = &mut self.processes.workers;
        workers.with(id, |worker| worker.role = WorkerRole::Regular);
        reaction.push(Command::Worker(WorkerCommand::Admit(id)));
        self.worker_ready(id, reaction);
        retire_old_code(&mut self.processes, reaction);
    }

    /// Goes back to the previous mold, as `carat restart --rollback` asked.
    pub(super) fn roll_back(&mut self, reaction: &mut Reaction) {
        if self.processes.molds.previous.is_some() {
            self.restarts.begin_rollback(reaction);
            self.go_back(reaction);
        }
    }

    /// Makes the previous mold the current one, as a new generation. False if there is no previous mold.
    fn go_back(&mut self, reaction: &mut Reaction) -> bool {
        let molds = &mut self.processes.molds;
        let Some(PreviousMold {
            mut mold, settings, ..
        }) = molds.previous.take()
        else {
            return false;
        };
        molds.kill_candidate(reaction);
        self.candidate_failed("a rollback takes precedence", false, reaction);
        let before = mold.generation;
        let generation = self.processes.molds.next_generation();
        mold.generation = generation;
        reaction.push(Command::Mold(MoldCommand::Renumber { before, generation }));
        self.install(mold, settings, reaction);
        true
    }

    /// Makes a mold the current one: its settings apply from now on, and older workers are replaced.
    fn install(&mut self, mold: Mold, settings: GenerationSettings, reaction: &mut Reaction) {
        let generation = mold.generation;
        let kept = GenerationSettings {
            limits: reaction.limits,
            refork: self.refork.rule.clone(),
            apps: self.apps.settings(),
        };
        reaction.limits = settings.limits;
        let Elastic { min, max, .. } = settings.limits.elastic;
        let wanted = &mut self.processes.workers.wanted;
        *wanted = (*wanted).clamp(min, max);
        reaction.push(Command::DivideFiles { workers: max });
        self.processes.install(mold, kept, reaction);
        self.apps.adopt(settings.apps, generation);
        // Measurements of the old code do not count for the new code.
        self.refork = Refork::new(settings.refork, reaction.now);
        self.restarts.begin_replacing(reaction);
        reaction.push(Command::Mold(MoldCommand::Adopt { generation }));
    }
}
