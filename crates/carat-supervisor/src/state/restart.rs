//! How new code takes over: a new mold loads the application, its first worker is checked, and then all workers of
//! older generations are replaced. What fails before leaves everything as it was.

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

/// Why a worker ends.
const ROOM: &str = "worker makes room for the restart";
const LAST_ROOM: &str = "last worker makes room for the restart: requests wait in the queue";
const SLOW_RESPONSE: &str = "another worker serves until the last one has finished a slow response";

/// The restart under way, the next one, and those that are over.
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

    /// For how long at most the restart with this number kept requests waiting while no worker ran; `None` if it did not.
    pub fn waited(&self, number: u32) -> Option<Duration> {
        self.downtimes.waited(number)
    }

    /// Whether the further processes of the application end to make room, or wait until there is some again.
    pub(super) fn has_apps_out(&self) -> bool {
        self.has_apps_out
    }

    /// Whether further processes that have made room start again soon: the new mold has its memory.
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

    /// How many workers there may be.
    pub(super) fn most_workers(&self) -> u32 {
        let current = self.current.as_ref();
        current.map_or(u32::MAX, |restart| restart.most_workers)
    }

    /// Notes that a restart follows the one under way, or the start of the server.
    pub(super) fn queue(&mut self) {
        self.history.queue();
    }

    /// Begins a restart. One under way may have read the code before it changed, so another one follows it.
    pub(super) fn begin_or_queue(&mut self, processes: &mut Processes, reaction: &mut Reaction) {
        if self.current.is_some() {
            return self.queue();
        }
        self.begin(RestartStage::Reading, reaction.now);
        // Two molds at once are enough.
        if processes.molds.previous.is_some() {
            reaction.log(LogLine::info("previous mold makes room for the restart"));
        }
        processes.molds.end_previous(reaction);
        let workers = processes.workers.iter_mut();
        workers.for_each(Worker::forgo_promotion);
        reaction.log(LogLine::info("restarting"));
        reaction.push(Command::ReadSettings);
        // What is used now decides who makes room.
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

    /// How long a mold, or the first worker of it, may take to boot: the new settings may say something else.
    pub(super) fn boot_timeout(&self, reaction: &Reaction) -> Duration {
        self.limits(reaction).boot_timeout
    }

    /// The limits that the configuration has now.
    fn limits<'a>(&'a self, reaction: &'a Reaction) -> &'a Limits {
        let settings = self.current.as_ref().and_then(|it| it.settings.as_ref());
        settings.map_or(&reaction.limits, |settings| &settings.limits)
    }

    /// Boots the new mold, about as large as the current one, if it fits, or takes the next step toward that.
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
                // They have time limits of their own.
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

    /// Ends the last worker, so that the new mold has room beside the old one, which stays for the way back.
    fn hold_requests(&mut self, processes: &mut Processes, reaction: &mut Reaction) {
        let Some(restart) = &mut self.current else {
            return;
        };
        restart.most_workers = 0;
        let number = restart.number;
        for worker in processes.workers.iter_mut() {
            // Its longest request may finish, unless another worker has left it the time for that.
            worker.replacement = Some(ReplacementReason::Restart);
            let mut deadline = worker.drain_deadline(reaction);
            if restart.has_held {
                deadline = deadline.min(reaction.now + SUCCESSOR_DOWNTIME_LIMIT);
            }
            worker.retire_by(deadline, LAST_ROOM, reaction);
        }
        self.downtimes.begin(number, reaction);
    }

    /// A slow response keeps the last worker, and so all requests: once, another worker takes its place meanwhile.
    fn bound_wait(&mut self, processes: &Processes, reaction: &mut Reaction) {
        let Some(restart) = self.current.as_mut().filter(|it| !it.has_held) else {
            return;
        };
        if self.downtimes.is_too_long(reaction.now) {
            (restart.has_held, restart.most_workers) = (true, 1);
            // The response has its time.
            let deadlines = processes.workers.iter();
            let deadlines = deadlines.map(|it| it.drain_deadline(reaction));
            restart.since = deadlines.max().unwrap_or(reaction.now);
            reaction.log(LogLine::info(SLOW_RESPONSE));
            self.downtimes.release_requests(reaction);
        }
    }

    /// A worker serves: the time in which none ran is over.
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

    /// Forks the first worker of the new mold. Beside a single worker it comes whatever the budget.
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

    /// The mold of the new code, and its settings, which are about to hold.
    pub(super) fn take_new_code(
        &mut self,
        molds: &mut Molds,
    ) -> Option<(Mold, GenerationSettings)> {
        let settings = self.current.as_mut()?.settings.take()?;
        Some((molds.candidate.take()?.mold, settings))
    }

    /// Replaces the workers of older generations: a new mold is the current one.
    pub(super) fn begin_replacing(&mut self, reaction: &mut Reaction) {
        self.set_stage(RestartStage::Replacing, reaction.now);
        if let Some(restart) = &mut self.current {
            restart.most_workers = u32::MAX;
        }
        self.downtimes.release_requests(reaction);
    }

    /// The restart is over when no process of an older generation is left that could answer.
    fn finish_replacing(&mut self, processes: &mut Processes, reaction: &mut Reaction) {
        let limits = reaction.limits;
        let oldest = processes.molds.oldest_generation;
        // While somebody works on the code, nobody waits for the requests of the old one.
        let may_respond = |it: &Worker| !limits.replaces_at_once || it.is_ready();
        let is_left = |it: &Worker| it.generation < oldest && may_respond(it);
        if processes.workers.iter().any(is_left) {
            return;
        }
        if let Some(previous) = &mut processes.molds.previous {
            // While somebody works on the code, nobody goes back to the old one. Processes that have made room need
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

    /// The restart is over, and the old generation continues to serve.
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

    /// The server stops: nothing replaces anything any more.
    pub(super) fn cancel(&mut self, processes: &mut Processes, reaction: &mut Reaction) {
        const CAUSE: &str = "the server stops";
        self.history.drop_queued(CAUSE);
        if self.is_replacing() {
            self.finish(Err(CAUSE.to_owned()), reaction);
        } else {
            self.fail(CAUSE, processes, reaction);
        }
    }

    /// The worker ended or failed to boot.
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

    /// A worker failed to boot after the trial.
    pub(super) fn count_failure(&mut self, generation: u32, oldest: u32) -> BootFailure {
        let current = self.current.as_mut();
        current.map_or(BootFailure::Retry, |it| {
            it.count_failure(generation, oldest)
        })
    }

    /// The previous mold took over again, for this reason.
    pub(super) fn set_undone(&mut self, cause: &str) {
        if let Some(restart) = &mut self.current {
            restart.undone = Some(cause.to_owned());
        }
    }

    /// `carat restart --rollback`: the restart under way is over, and the rollback is the next one.
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

/// While somebody works on the code, workers of older generations get no more requests. Otherwise they serve until
/// others have replaced them.
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
