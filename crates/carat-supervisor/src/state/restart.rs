//! How new code takes over: a new mold loads the application, its first worker is checked, and then all workers of
//! older generations are replaced. If a step before that fails, the old code continues to serve.

mod attempt;
mod downtime;
mod history;

use std::time::{Duration, Instant};

use carat_policy::{ByteSize, MoldRoom, MoldRoomStep, ReplacementReason};

pub(super) use self::attempt::BootFailure;
pub use self::history::RestartReport;

use self::attempt::{Restart, RestartStage, refusal};
use self::downtime::{Downtimes, SUCCESSOR_DOWNTIME_LIMIT};
use self::history::RestartHistory;
use super::app_processes::AppsRoom;
use super::next_to_replace::end_for_room;
use super::processes::Processes;
use super::processes::mold::Mold;
use super::processes::molds::Molds;
use super::processes::worker::{Worker, WorkerRole};
use super::reaction::Reaction;
use crate::command::{ClientsCommand, Command};
use crate::generation_settings::GenerationSettings;
use crate::limits::Limits;
use crate::log_line::LogLine;
use carat_log::WorkerId;

const ROOM: &str = "worker makes room for the restart";
const LAST_ROOM: &str = "last worker makes room for the restart: requests wait in the queue";
const SLOW_RESPONSE: &str = "another worker serves until the last one has finished a slow response";

/// The restart under way, the queued one, and the ones that are over.
#[derive(Debug, Default)]
pub struct Restarts {
    history: RestartHistory,
    current: Option<Restart>,
    /// The times in which no worker runs.
    downtimes: Downtimes,
    /// Whether the further processes of the application have ended to make room, and may not start again yet.
    has_apps_out: bool,
}

impl Restarts {
    /// The number of the latest restart, whether it is queued, begun, or over.
    pub fn latest(&self) -> u32 {
        self.history.latest
    }

    /// The state of the restart with this number; `None` if it ended long ago, or never was.
    pub fn report(&self, number: u32) -> Option<RestartReport> {
        let current = self.current.as_ref().filter(|it| it.number == number);
        let under_way = current.map(|it| RestartReport::UnderWay(it.stage.name()));
        let goes_back = self.downtimes.is_during(number);
        let going_back = goes_back.then_some(RestartReport::UnderWay("going back"));
        let report = under_way.or(going_back);
        report.or_else(|| self.history.report(number))
    }

    /// How long requests waited at most while no worker ran in the restart with this number; `None` if a worker ran all
    /// the time.
    pub fn waited(&self, number: u32) -> Option<Duration> {
        self.downtimes.waited(number)
    }

    /// Whether the further processes of the application end to make room, or wait until there is room again.
    pub(super) fn has_apps_out(&self) -> bool {
        self.has_apps_out
    }

    /// Whether the further processes that have made room start again soon: the new mold has the memory that it needs.
    pub(super) fn lets_apps_return(&self) -> bool {
        self.has_apps_out && (self.current.is_none() || self.is_replacing())
    }

    /// The step of the restart under way, as users read it.
    pub fn stage(&self) -> Option<&'static str> {
        self.current.as_ref().map(|restart| restart.stage.name())
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.current.is_some()
    }

    fn is_at(&self, stage: RestartStage) -> bool {
        let current = self.current.as_ref();
        current.is_some_and(|restart| restart.stage == stage)
    }

    /// Whether the configuration is being read.
    pub(super) fn is_reading(&self) -> bool {
        self.is_at(RestartStage::Reading)
    }

    /// Whether the workers of older generations are being replaced.
    pub(super) fn is_replacing(&self) -> bool {
        self.is_at(RestartStage::Replacing)
    }

    /// Whether this worker is on trial.
    pub(super) fn is_trial(&self, worker: WorkerId) -> bool {
        self.is_at(RestartStage::Trial(worker))
    }

    /// The most workers that may run.
    pub(super) fn most_workers(&self) -> u32 {
        let current = self.current.as_ref();
        current.map_or(u32::MAX, |restart| restart.most_workers)
    }

    /// Notes that a restart follows the one under way, or the start of the server.
    pub(super) fn queue(&mut self) {
        self.history.queue();
    }

    /// Begins a restart. If one is under way, it may have read the code before the change, so another one is queued.
    pub(super) fn begin_or_queue(&mut self, processes: &mut Processes, reaction: &mut Reaction) {
        if self.current.is_some() {
            return self.queue();
        }
        self.begin(RestartStage::Reading, reaction.now);
        // There are at most two molds at once.
        if processes.molds.previous.is_some() {
            reaction.log(LogLine::info("previous mold makes room for the restart"));
        }
        processes.molds.end_previous(reaction);
        let workers = processes.workers.iter_mut();
        workers.for_each(Worker::forgo_promotion);
        reaction.log(LogLine::info("restarting"));
        reaction.push(Command::ReadSettings);
        // The choice of the processes that make room needs a new reading.
        processes.memory.read_soon(reaction.now);
    }

    fn begin(&mut self, stage: RestartStage, now: Instant) {
        self.current = Some(Restart::new(self.history.begin(), stage, now));
    }

    fn set_stage(&mut self, stage: RestartStage, now: Instant) {
        if let Some(restart) = &mut self.current {
            (restart.stage, restart.since) = (stage, now);
        }
    }

    /// The configuration was read. `unchanged` names the options that only a new start can change.
    pub(super) fn settings_read(
        &mut self,
        settings: GenerationSettings,
        unchanged: &[String],
        reaction: &mut Reaction,
    ) {
        self.set_stage(RestartStage::MakingRoom, reaction.now);
        if let Some(restart) = &mut self.current {
            restart.settings = Some(settings);
        }
        if !unchanged.is_empty() {
            let message = "changed options that take effect at an upgrade or the next start";
            reaction.log(LogLine::warn(message).text("options", unchanged.join(", ")));
        }
    }

    /// Takes the step that can be taken now, or begins the restart that follows.
    pub(super) fn advance(
        &mut self,
        may_begin: bool,
        apps: AppsRoom,
        processes: &mut Processes,
        reaction: &mut Reaction,
    ) {
        let current = self.current.as_ref();
        let is_late = current.is_some_and(|restart| restart.is_late(reaction));
        match current.map(|restart| restart.stage) {
            Some(RestartStage::MakingRoom | RestartStage::Forking) if is_late => {
                let cause = "the other workers did not free enough memory in time (memory)";
                self.fail(cause, processes, reaction);
            }
            Some(RestartStage::MakingRoom) => self.make_room(apps, processes, reaction),
            Some(RestartStage::Forking) => self.fork_trial(processes, reaction),
            Some(RestartStage::Replacing) => self.finish_replacing(processes, reaction),
            Some(RestartStage::Reading | RestartStage::Loading | RestartStage::Trial(_)) | None => {
            }
        }
        end_old_previous(processes, reaction);
        // Two molds and the processes did not fit: the memory of one mold is free once it has ended.
        self.has_apps_out &= self.current.is_some() || !processes.molds.leaving.is_empty();
        self.downtimes.end_late(reaction);
        if may_begin && self.current.is_none() && self.history.has_queued() {
            self.begin_or_queue(processes, reaction);
        }
        self.report_end(reaction);
    }

    /// How long the new mold, or its first worker, may take to boot: `boot_timeout` of the new settings, if they are
    /// known.
    pub(super) fn boot_timeout(&self, reaction: &Reaction) -> Duration {
        self.limits(reaction).boot_timeout
    }

    /// The limits of the new settings, if they are known.
    fn limits<'a>(&'a self, reaction: &'a Reaction) -> &'a Limits {
        let settings = self.current.as_ref().and_then(|it| it.settings.as_ref());
        settings.map_or(&reaction.limits, |settings| &settings.limits)
    }

    /// Boots the new mold if it fits, or takes the next step to make room for it. The new mold is expected to need as
    /// much memory as the last one.
    fn make_room(&mut self, apps: AppsRoom, processes: &mut Processes, reaction: &mut Reaction) {
        let may_hold = self.limits(reaction).restart_hold;
        let missing = processes.missing_for_mold(reaction.now);
        let (Some(missing), Some(restart)) = (missing, &mut self.current) else {
            return;
        };
        if missing == 0 {
            self.set_stage(RestartStage::Loading, reaction.now);
            return processes.molds.boot_candidate(reaction);
        }
        let is_ending = restart.ends_apps && !apps.have_ended;
        if processes.is_anyone_leaving() || processes.workers.booting() > 0 || is_ending {
            return self.bound_wait(processes, reaction);
        }
        let room = MoldRoom {
            workers: processes.workers.private_coldest_first(),
            processes: if restart.ends_apps { 0 } else { apps.bytes },
            may_hold,
        };
        match room.next_step(missing) {
            MoldRoomStep::EndWorker => {
                end_for_room(processes, &mut restart.most_workers, ROOM, reaction);
            }
            MoldRoomStep::EndProcesses => {
                (restart.ends_apps, self.has_apps_out) = (true, true);
                // The processes have time limits of their own.
                restart.since = reaction.now + apps.end_within;
                let line =
                    LogLine::info("processes make room for the restart: they start again after it");
                reaction.log(line.text("needed", ByteSize(missing)));
            }
            MoldRoomStep::HoldRequests => self.hold_requests(processes, reaction),
            MoldRoomStep::Refuse => {
                let cause = refusal(missing, &room);
                self.fail(&cause, processes, reaction);
            }
        }
    }

    /// Ends the last worker, and holds the requests, so that the new mold has room beside the old mold. The old mold
    /// stays for a rollback.
    fn hold_requests(&mut self, processes: &mut Processes, reaction: &mut Reaction) {
        let Some(restart) = &mut self.current else {
            return;
        };
        restart.most_workers = 0;
        let number = restart.number;
        for worker in processes.workers.iter_mut() {
            // The longest request of the worker may finish, unless the requests have already waited for it once.
            worker.replacement = Some(ReplacementReason::Restart);
            let mut deadline = worker.drain_deadline(reaction);
            if restart.has_held {
                deadline = deadline.min(reaction.now + SUCCESSOR_DOWNTIME_LIMIT);
            }
            worker.retire_by(deadline, LAST_ROOM, reaction);
        }
        self.downtimes.begin(number, reaction);
    }

    /// Ends the hold once if a slow response of the last worker keeps the requests waiting for too long: another worker
    /// takes its place until the response has finished.
    fn bound_wait(&mut self, processes: &Processes, reaction: &mut Reaction) {
        let Some(restart) = self.current.as_mut().filter(|it| !it.has_held) else {
            return;
        };
        if self.downtimes.is_too_long(reaction.now) {
            (restart.has_held, restart.most_workers) = (true, 1);
            // The slow response gets the time that a worker has to drain.
            let deadlines = processes.workers.iter();
            let deadlines = deadlines.map(|it| it.drain_deadline(reaction));
            restart.since = deadlines.max().unwrap_or(reaction.now);
            reaction.log(LogLine::info(SLOW_RESPONSE));
            self.downtimes.release_requests(reaction);
        }
    }

    /// Ends the downtime: a worker serves.
    pub(super) fn worker_serves(&mut self, reaction: &mut Reaction) {
        self.downtimes.end(reaction);
    }

    /// The new mold can fork.
    pub(super) fn loaded(&mut self, processes: &mut Processes, reaction: &mut Reaction) {
        if let Some(candidate) = &mut processes.molds.candidate {
            candidate.mold.set_ready(reaction);
            self.set_stage(RestartStage::Forking, reaction.now);
            processes.memory.read_soon(reaction.now);
        }
    }

    /// Forks the first worker of the new mold as soon as there is memory for it. If only one worker is left, it is
    /// forked whatever the budget.
    fn fork_trial(&mut self, processes: &mut Processes, reaction: &mut Reaction) {
        let generation = processes.molds.next().map(|mold| mold.generation);
        let (Some(generation), Some(restart)) = (generation, &mut self.current) else {
            return;
        };
        if !processes.memory.is_current(reaction.now) {
            return;
        }
        let most_workers = &mut restart.most_workers;
        let waits = processes.room() == 0
            && (end_for_room(processes, most_workers, ROOM, reaction)
                || processes.workers.staying() > 1);
        if !waits {
            let id = processes.fork(generation, WorkerRole::Trial, reaction);
            let deadline = reaction.now + self.boot_timeout(reaction);
            if let Some(worker) = processes.workers.get_mut(id) {
                worker.boot_by(deadline);
            }
            self.set_stage(RestartStage::Trial(id), reaction.now);
        }
    }

    /// Takes the mold and the settings of the new code, which are about to become the current ones.
    pub(super) fn take_new_code(
        &mut self,
        molds: &mut Molds,
    ) -> Option<(Mold, GenerationSettings)> {
        let settings = self.current.as_mut()?.settings.take()?;
        Some((molds.candidate.take()?.mold, settings))
    }

    /// Begins to replace the workers of older generations, because a new mold is the current one.
    pub(super) fn begin_replacing(&mut self, reaction: &mut Reaction) {
        self.set_stage(RestartStage::Replacing, reaction.now);
        if let Some(restart) = &mut self.current {
            restart.most_workers = u32::MAX;
        }
        self.downtimes.release_requests(reaction);
    }

    /// Ends the restart when no worker of an older generation is left.
    fn finish_replacing(&mut self, processes: &mut Processes, reaction: &mut Reaction) {
        let limits = reaction.limits;
        let oldest = processes.molds.oldest_generation;
        // In development, the restart does not wait for the requests that old workers still run.
        let may_respond = |it: &Worker| !limits.replaces_at_once || it.is_ready();
        let is_left = |it: &Worker| it.generation < oldest && may_respond(it);
        if processes.workers.iter().any(is_left) {
            return;
        }
        if let Some(previous) = &mut processes.molds.previous {
            // In development, there is no rollback, so the previous mold ends. It also ends if further processes need
            // its memory.
            let is_kept = !limits.replaces_at_once && !self.has_apps_out;
            previous.until = Some(reaction.now + limits.keep_previous * u32::from(is_kept));
        }
        let undone = self.current.as_mut().and_then(|it| it.undone.take());
        if let Some(cause) = undone {
            let line = LogLine::error("restart undone: the previous mold serves again");
            reaction.log(line.text("cause", &cause));
            self.finish(Err(cause), reaction);
        } else if let Some(restart) = self.finish(Ok(()), reaction) {
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

    fn finish(&mut self, result: Result<(), String>, reaction: &mut Reaction) -> Option<Restart> {
        let restart = self.current.take()?;
        self.downtimes.leave(reaction);
        self.history.finish(restart.number, result);
        Some(restart)
    }

    /// Ends the restart as failed; the old generation continues to serve.
    pub(super) fn fail(&mut self, cause: &str, processes: &mut Processes, reaction: &mut Reaction) {
        let Some(restart) = self.finish(Err(cause.to_owned()), reaction) else {
            return;
        };
        let line = LogLine::error(if reaction.limits.replaces_at_once {
            "restart failed: clients get the cause until it is fixed"
        } else {
            "restart failed: the old code continues to serve"
        });
        reaction.log(line.text("cause", cause));
        if let RestartStage::Trial(id) = restart.stage {
            processes.abandon(id, reaction);
        }
        let molds = &mut processes.molds;
        if molds.is_restarting() {
            if let Some(candidate) = molds.candidate.take() {
                molds.end_failed(candidate.mold, reaction);
            }
        }
    }

    /// Ends all restarts, because the server stops.
    pub(super) fn cancel(&mut self, processes: &mut Processes, reaction: &mut Reaction) {
        const CAUSE: &str = "the server stops";
        self.history.drop_queued(CAUSE);
        if self.is_replacing() {
            self.finish(Err(CAUSE.to_owned()), reaction);
        } else {
            self.fail(CAUSE, processes, reaction);
        }
    }

    /// Fails the restart if this worker was on trial: it ended or failed to boot.
    pub(super) fn trial_failed(
        &mut self,
        id: WorkerId,
        cause: &str,
        processes: &mut Processes,
        reaction: &mut Reaction,
    ) {
        if self.is_trial(id) {
            let cause = format!("the first new worker failed: {cause}");
            self.fail(&cause, processes, reaction);
        }
    }

    /// Counts a worker that failed to boot after the trial, and returns what follows.
    pub(super) fn count_failure(&mut self, generation: u32, oldest: u32) -> BootFailure {
        let current = self.current.as_mut();
        current.map_or(BootFailure::Retry, |it| {
            it.count_failure(generation, oldest)
        })
    }

    /// Notes why the previous mold has taken over again.
    pub(super) fn set_undone(&mut self, cause: &str) {
        if let Some(restart) = &mut self.current {
            restart.undone = Some(cause.to_owned());
        }
    }

    /// Ends the restart under way, and begins a rollback, as `carat restart --rollback` asked.
    pub(super) fn begin_rollback(&mut self, reaction: &mut Reaction) {
        self.history.drop_queued("rolled back");
        self.finish(Err("rolled back".to_owned()), reaction);
        self.begin(RestartStage::Replacing, reaction.now);
        if let Some(rollback) = &mut self.current {
            rollback.is_rollback = true;
        }
        reaction.log(LogLine::info("rolling back"));
    }

    /// Reports how the last restart ended, unless another one follows.
    fn report_end(&mut self, reaction: &mut Reaction) {
        if self.current.is_some() {
            return;
        }
        let news = self.history.news.take();
        if let Some(result) = news.filter(|_| reaction.limits.replaces_at_once) {
            reaction.push(Command::Clients(ClientsCommand::EndRestart(result)));
        }
    }
}

/// In development, drains the workers of older generations at once. Otherwise they serve until others have replaced
/// them.
pub(super) fn retire_old_code(processes: &mut Processes, reaction: &mut Reaction) {
    let oldest = processes.molds.oldest_generation;
    for worker in processes.workers.iter_mut() {
        if reaction.limits.replaces_at_once && worker.is_ready() && worker.generation < oldest {
            worker.retire("worker is replaced", reaction);
        }
    }
}

/// Ends the previous mold when its time is over, or when its memory is needed for a worker.
fn end_old_previous(processes: &mut Processes, reaction: &mut Reaction) {
    let previous = processes.molds.previous.as_ref();
    let Some(until) = previous.and_then(|previous| previous.until) else {
        return;
    };
    let is_short = processes.workers.missing() > 0 && processes.has_no_room(reaction.now);
    if reaction.now >= until || is_short || processes.memory.is_over(reaction.now) {
        processes.molds.end_previous(reaction);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::tests::reaction;

    #[test]
    fn all_requests_during_a_restart_get_the_same_one() {
        let mut reaction = reaction();
        let mut processes = Processes::new(1, 0, reaction.now);
        let mut restarts = Restarts::default();
        for expected in [1, 2, 2] {
            restarts.begin_or_queue(&mut processes, &mut reaction);
            assert_eq!(restarts.latest(), expected);
        }
        restarts.fail("no configuration", &mut processes, &mut reaction);
        assert_eq!(restarts.report(2), Some(RestartReport::Queued));
        let apps = AppsRoom {
            bytes: 0,
            have_ended: true,
            end_within: Duration::ZERO,
        };
        restarts.advance(true, apps, &mut processes, &mut reaction);
        assert_eq!(restarts.stage(), Some("reading the configuration"));
        assert_eq!(restarts.latest(), 2);
    }

    #[test]
    fn several_boot_failures_of_new_code_go_back_once() {
        let mut reaction = reaction();
        let mut restarts = Restarts::default();
        restarts.begin_rollback(&mut reaction);
        assert_eq!(restarts.count_failure(1, 2), BootFailure::Retry);
        let outcomes = [(); 3].map(|()| restarts.count_failure(2, 2));
        assert_eq!(outcomes[..2], [BootFailure::Retry; 2]);
        assert_eq!(outcomes[2], BootFailure::GoBack);
        restarts.set_undone("it does not boot");
        let outcomes = [(); 3].map(|()| restarts.count_failure(2, 2));
        assert_eq!(outcomes, [BootFailure::Retry; 3]);
    }
}
