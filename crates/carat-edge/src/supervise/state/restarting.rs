//! How new code takes over: a new mold loads the application, its first worker is checked, and then all workers of
//! older generations are replaced. What fails before leaves everything as it was.

use carat_policy::ByteSize;

use super::State;
use super::mold::Mold;
use super::molds::{LeavingKind, MoldCandidate, MoldOrigin};
use super::reaction::Reaction;
use super::restart::{RestartReport, RestartStage};
use super::worker::{Worker, WorkerRole};
use crate::dispatch::WorkerId;
use crate::supervise::command::{BootSettings, Command};
use crate::supervise::generation_settings::GenerationSettings;
use crate::supervise::log_line::LogLine;
use crate::supervise::ruby_process::RubyProcess;

/// Why a worker ends.
const ROOM: &str = "worker makes room for the restart";

impl State {
    /// `carat restart` or SIGUSR1. Begins a restart, or notes that another one follows.
    pub(super) fn restart_requested(&mut self, reaction: &mut Reaction) {
        if self.is_stopping() || !self.is_announced {
            return reaction.log(LogLine::warn(
                "no restart: the server is starting or stopping",
            ));
        }
        if self.upgrades.current.is_some() {
            return reaction.log(LogLine::warn("no restart: an upgrade is under way"));
        }
        if self.restarts.stage() == Some(RestartStage::Canary) {
            return reaction.log(LogLine::warn(
                "no restart: a canary waits for `carat restart --go` or `--rollback`",
            ));
        }
        if self.restarts.current.is_some() {
            return self.restarts.queue();
        }
        self.begin_restart(reaction);
    }

    pub(super) fn begin_restart(&mut self, reaction: &mut Reaction) {
        self.restarts.begin(RestartStage::Reading, reaction.now);
        // Two molds at once are enough.
        self.end_previous(reaction);
        self.workers.iter_mut().for_each(Worker::forgo_promotion);
        reaction.log(LogLine::info("restarting"));
        reaction.push(Command::ReadSettings);
    }

    /// The configuration was read. `unchanged` names the options that only a new start can change.
    pub(super) fn settings_read(
        &mut self,
        settings: GenerationSettings,
        unchanged: &[String],
        reaction: &mut Reaction,
    ) {
        let current = self.restarts.current.as_mut();
        let Some(restart) = current.filter(|it| it.stage == RestartStage::Reading) else {
            return;
        };
        restart.settings = Some(settings);
        restart.stage = RestartStage::MakingRoom;
        restart.since = reaction.now;
        if !unchanged.is_empty() {
            let message = "changed options that take effect at the next start of the server";
            reaction.log(LogLine::warn(message).text("options", unchanged.join(", ")));
        }
    }

    pub(super) fn settings_failed(&mut self, cause: &str, reaction: &mut Reaction) {
        if self.restarts.stage() == Some(RestartStage::Reading) {
            self.restart_failed(cause, reaction);
        }
    }

    /// Takes the step of a restart that can be taken now.
    pub(super) fn advance_restart(&mut self, reaction: &mut Reaction) {
        match self.restarts.stage() {
            Some(RestartStage::MakingRoom | RestartStage::Forking)
                if self.waits_too_long(reaction) =>
            {
                self.restart_failed(
                    "the other workers did not free enough memory in time (memory)",
                    reaction,
                );
            }
            Some(RestartStage::MakingRoom) => self.make_room(reaction),
            Some(RestartStage::Forking) => self.fork_trial(reaction),
            Some(RestartStage::Canary) => self.keep_canary(reaction),
            Some(RestartStage::Replacing) => self.finish_restart(reaction),
            _ => {}
        }
        self.end_old_previous(reaction);
        if self.restarts.current.is_none() && self.restarts.has_queued() {
            self.begin_restart(reaction);
        }
        self.report_reload(reaction);
    }

    /// Workers that end to make room, or boot, have their own time limits.
    fn waits_too_long(&self, reaction: &Reaction) -> bool {
        let limits = &reaction.limits;
        let limit = limits.shutdown_timeout + limits.boot_timeout;
        self.restarts.stage_age(reaction.now) > limit
    }

    /// Boots the new mold when it fits beside all others. It will need about as much memory as the current one.
    fn make_room(&mut self, reaction: &mut Reaction) {
        // A refork that is under way ends first.
        if self.molds.candidate.is_some() || !self.knows_memory(reaction) {
            return;
        }
        let missing = self.memory.missing_for_mold();
        if missing == 0 {
            let generation = self.molds.next_generation();
            self.molds.candidate = Some(MoldCandidate {
                mold: Mold::started(generation, None, reaction.now),
                origin: MoldOrigin::Restart,
            });
            self.restarts.set_stage(RestartStage::Loading, reaction.now);
            let settings = BootSettings::New;
            reaction.push(Command::BootMold {
                generation,
                settings,
            });
        } else if !self.end_one_for_room(ROOM, reaction) {
            let missing = ByteSize(missing);
            let cause = format!("no memory for a second mold: {missing} more is needed (memory)");
            self.restart_failed(&cause, reaction);
        }
    }

    /// Whether the last reading says what all processes need: none boots, none is new, and it has seen those that are
    /// being killed.
    pub(super) fn knows_memory(&self, reaction: &Reaction) -> bool {
        let mold = self.molds.current.as_ref();
        if mold.is_none() && self.workers.is_empty() {
            return true;
        }
        let is_read = |pid| self.memory.includes(Some(pid));
        self.workers.booting() == 0
            && self.workers.iter().filter_map(|it| it.pid).all(is_read)
            && mold.is_none_or(|mold| self.memory.includes_mold(mold.pid))
            && self.memory.is_current(reaction.now)
    }

    /// Ends a worker to make room. False if only one serves; true also while another one ends.
    pub(super) fn end_one_for_room(
        &mut self,
        reason: &'static str,
        reaction: &mut Reaction,
    ) -> bool {
        if self.workers.is_anyone_leaving() || self.molds.is_anyone_leaving() {
            return true;
        }
        let serving = self.workers.serving();
        let coldest = self.workers.coldest().filter(|_| serving > 1);
        let Some(id) = coldest.map(|worker| worker.id) else {
            return false;
        };
        if let Some(restart) = &mut self.restarts.current {
            restart.most_workers = serving - 1;
        }
        if let Some(upgrade) = &mut self.upgrades.current {
            upgrade.most_workers = serving - 1;
        }
        self.retire(id, reason, reaction);
        true
    }

    /// The new mold can fork.
    pub(super) fn restart_loaded(&mut self, reaction: &mut Reaction) {
        let Some(candidate) = &mut self.molds.candidate else {
            return;
        };
        candidate.mold.is_ready = true;
        let boot = reaction
            .now
            .saturating_duration_since(candidate.mold.started);
        let line = candidate.mold.identify(LogLine::info("mold ready"));
        reaction.log(line.milliseconds("boot_ms", boot));
        self.restarts.set_stage(RestartStage::Forking, reaction.now);
        self.memory.hurry(reaction.now);
    }

    /// Forks the first worker of the new mold. Beside a single worker it comes whatever the budget.
    fn fork_trial(&mut self, reaction: &mut Reaction) {
        let Some(candidate) = &self.molds.candidate else {
            return;
        };
        let generation = candidate.mold.generation;
        if !self.memory.is_current(reaction.now) {
            return;
        }
        let is_full = self.room() == 0;
        if is_full && (self.end_one_for_room(ROOM, reaction) || self.workers.staying() > 1) {
            return;
        }
        let id = self.workers.next_id();
        let mut worker = Worker::forked(id, generation, reaction);
        worker.role = WorkerRole::Trial;
        self.workers.insert(worker);
        self.restarts
            .set_stage(RestartStage::Trial(id), reaction.now);
        reaction.push(Command::Fork {
            worker: id,
            generation,
            is_trial: true,
        });
    }

    /// The worker on trial has booted: it is checked, and is still killed at its deadline.
    pub(super) fn check_trial(&mut self, id: WorkerId, reaction: &mut Reaction) {
        let Some(worker) = self.workers.get(id) else {
            return;
        };
        let generation = worker.generation;
        reaction.push(Command::Check {
            worker: id,
            generation,
        });
    }

    /// The worker on trial responded as it should, or not.
    pub(super) fn checked(
        &mut self,
        id: WorkerId,
        result: Result<(), String>,
        reaction: &mut Reaction,
    ) {
        if !self.restarts.is_trial(id) {
            return;
        }
        match result {
            Ok(()) => self.trial_passed(id, reaction),
            Err(cause) => self.restart_failed(&cause, reaction),
        }
    }

    fn trial_passed(&mut self, id: WorkerId, reaction: &mut Reaction) {
        let rule = self.canary_rule();
        if rule.holds() {
            self.begin_canary(rule, reaction);
        } else {
            self.new_code_takes_over(reaction);
        }
        if let Some(worker) = self.workers.get_mut(id) {
            worker.role = if rule.holds() {
                WorkerRole::Canary
            } else {
                WorkerRole::Regular
            };
        }
        reaction.push(Command::Admit(id));
        self.worker_ready(id, reaction);
        self.retire_old_code(reaction);
    }

    /// The mold of the new code is the current one, and its workers replace all others.
    pub(super) fn new_code_takes_over(&mut self, reaction: &mut Reaction) {
        let settings = self.restarts.current.as_mut();
        let settings = settings.and_then(|restart| restart.settings.take());
        let (Some(candidate), Some(settings)) = (self.molds.candidate.take(), settings) else {
            return;
        };
        let generation = candidate.mold.generation;
        let old = self.molds.current.replace(candidate.mold);
        self.keep_as_previous(old, reaction);
        self.adopt(generation, settings, reaction);
    }

    /// The generation's mold is the current one: from here on its settings hold, and older workers are replaced.
    pub(super) fn adopt(
        &mut self,
        generation: u32,
        settings: GenerationSettings,
        reaction: &mut Reaction,
    ) {
        self.limits = settings.limits;
        reaction.limits = settings.limits;
        let elastic = settings.limits.elastic;
        self.wanted = self.wanted.clamp(elastic.min, elastic.max);
        self.refork
            .restart(settings.refork, generation, reaction.now);
        self.molds.backoff.succeed();
        self.worker_backoff.succeed();
        self.memory.hurry(reaction.now);
        for worker in self.workers.iter_mut() {
            worker.requests_before = worker.requests;
            worker.forgo_promotion();
        }
        // Workers of older generations that have not booted never answer.
        for id in self.workers.booting_before(generation) {
            self.abandon(id, reaction);
        }
        self.restarts
            .set_stage(RestartStage::Replacing, reaction.now);
        if let Some(restart) = &mut self.restarts.current {
            restart.most_workers = u32::MAX;
        }
        reaction.push(Command::Adopt { generation });
    }

    /// The restart is over when no process of an older generation is left that could answer.
    fn finish_restart(&mut self, reaction: &mut Reaction) {
        let oldest = self.refork.oldest_generation;
        let is_left =
            |it: &Worker| it.is_canary() || (it.generation < oldest && self.may_respond(it));
        if self.workers.iter().any(is_left) {
            return;
        }
        let kept = self.time_to_go_back();
        if let Some(previous) = &mut self.restarts.previous {
            previous.until = Some(reaction.now + kept);
        }
        let undone = self
            .restarts
            .current
            .as_mut()
            .and_then(|it| it.undone.take());
        if let Some(cause) = undone {
            let line = LogLine::error("restart undone: the previous mold serves again");
            reaction.log(line.text("cause", &cause));
            self.restarts.finish(Err(cause));
        } else if let Some(restart) = self.restarts.finish(Ok(())) {
            let took = reaction.now.saturating_duration_since(restart.begun);
            let message = if restart.is_rollback {
                "rolled back"
            } else {
                "restarted"
            };
            let line = LogLine::info(message).number("gen", oldest);
            reaction.log(line.milliseconds("took_ms", took));
        }
    }

    /// The restart is over, and the old generation continues to serve.
    pub(super) fn restart_failed(&mut self, cause: &str, reaction: &mut Reaction) {
        let trial = match self.restarts.stage() {
            Some(RestartStage::Trial(id)) => Some(id),
            _ => None,
        };
        let was_canary = self.is_canary();
        if self.restarts.finish(Err(cause.to_owned())).is_none() {
            return;
        }
        let line = LogLine::error(self.failure_message());
        reaction.log(line.text("cause", cause));
        if let Some(id) = trial {
            self.abandon(id, reaction);
        }
        if was_canary {
            self.end_canary_workers(reaction);
        }
        if self.molds.is_restarting() {
            if let Some(candidate) = self.molds.candidate.take() {
                self.end_failed_mold(candidate.mold, reaction);
            }
        }
    }

    pub(super) fn end_failed_mold(&mut self, mold: Mold, reaction: &mut Reaction) {
        if let Some(pid) = mold.pid {
            reaction.push(Command::Kill { pid });
        }
        reaction.push(Command::CloseControl(RubyProcess::Mold(mold.generation)));
        self.molds.leave(mold, LeavingKind::Failed, reaction.now);
    }

    /// The server stops: nothing replaces anything any more.
    pub(super) fn cancel_restart(&mut self, reaction: &mut Reaction) {
        const CAUSE: &str = "the server stops";
        self.restarts.drop_queued(CAUSE);
        if self.restarts.is_replacing() {
            self.restarts.finish(Err(CAUSE.to_owned()));
        } else {
            self.restart_failed(CAUSE, reaction);
        }
    }

    /// The worker on trial ended or failed to boot.
    pub(super) fn trial_failed(&mut self, id: WorkerId, cause: &str, reaction: &mut Reaction) {
        if self.restarts.is_trial(id) {
            let cause = format!("the first new worker failed: {cause}");
            self.restart_failed(&cause, reaction);
        }
    }

    /// The number of the latest restart, whether it is queued, begun, or over.
    pub(crate) fn latest_restart(&self) -> u32 {
        self.restarts.latest()
    }

    /// What the restart under way does, as users read it.
    pub(crate) fn restart_stage(&self) -> Option<&'static str> {
        self.restarts.stage().map(RestartStage::name)
    }

    /// Whether there is a mold to go back to.
    pub(crate) fn may_roll_back(&self) -> bool {
        self.restarts.previous.is_some() || self.is_canary()
    }

    pub(crate) fn restart_report(&self, number: u32) -> Option<RestartReport> {
        self.restarts.report(number)
    }

    /// How many workers of older generations are left.
    pub(crate) fn old_workers(&self) -> usize {
        let oldest = self.refork.oldest_generation;
        let workers = self.workers.iter();
        workers.filter(|it| it.generation < oldest).count()
    }
}
