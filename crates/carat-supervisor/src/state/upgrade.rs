//! How a new edge takes over: it boots beside this one, with copies of the listeners, and accepts clients when its workers
//! are ready. From then on this one only finishes what its clients began. What fails before leaves everything as it was.

use std::time::{Duration, Instant};

use super::next_to_replace::end_for_room;
use super::processes::{Processes, no_room};
use super::reaction::{KILL_AFTER, Reaction};
use crate::command::Command;
use crate::log_line::LogLine;

/// How many times `boot_timeout` a new edge may take: it reads the configuration, boots a mold, and boots workers.
const BOOTS: u32 = 3;

/// How long a new edge may take to accept clients when it is told to.
const HAND_OVER_TIMEOUT: Duration = Duration::from_secs(10);

/// The upgrade under way, and the last one.
#[derive(Debug, Default)]
pub struct Upgrades {
    /// The number of the latest one.
    latest: u32,
    current: Option<Upgrade>,
    /// The process id of the new edge once it was told to accept clients; `None` when it may end.
    taker: Option<u32>,
    /// How the latest one ended: with the process id of the new edge, or the reason why there is none.
    finished: Option<Result<u32, String>>,
}

/// An upgrade under way: a new edge is to take the listeners over.
#[derive(Debug)]
struct Upgrade {
    stage: UpgradeStage,
    /// When its stage began.
    since: Instant,
    /// The process id of the new edge while it runs.
    pid: Option<u32>,
    /// The most workers that may run, so that the new server has room.
    most_workers: u32,
}

/// How far an upgrade has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UpgradeStage {
    /// Workers end until there is memory for another mold.
    MakingRoom,
    /// The new edge boots its mold and its workers.
    Starting,
    /// The new edge was told to accept clients.
    HandingOver,
    /// It has failed, and has been told to end.
    Failed,
}

/// What is known of an upgrade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpgradeReport {
    /// With the name of its step.
    UnderWay(&'static str),
    /// The new edge has this process id.
    Done(u32),
    /// With the reason; the old edge serves.
    Failed(String),
}

impl Upgrades {
    /// Continues the numbers of the server that this one succeeds.
    pub(super) fn succeed(&mut self, number: u32, pid: u32) {
        self.latest = number;
        self.finished = Some(Ok(pid));
    }

    /// The number of the latest one.
    pub fn latest(&self) -> u32 {
        self.latest
    }

    /// Whether one is under way.
    pub(super) fn is_under_way(&self) -> bool {
        self.current.is_some()
    }

    /// The process id of the new edge while it runs.
    pub(super) fn pid(&self) -> Option<u32> {
        self.current.as_ref()?.pid
    }

    /// `carat upgrade` or SIGUSR2.
    pub(super) fn begin(&mut self, processes: &mut Processes, reaction: &mut Reaction) {
        self.latest += 1;
        (self.finished, self.taker) = (None, None);
        self.current = Some(Upgrade {
            stage: UpgradeStage::MakingRoom,
            since: reaction.now,
            pid: None,
            most_workers: u32::MAX,
        });
        // Two molds at once are enough.
        processes.molds.end_previous(reaction);
        reaction.log(LogLine::info("upgrading"));
    }

    /// The stage of the upgrade with this number, if that one is under way.
    fn stage_of(&self, number: u32) -> Option<UpgradeStage> {
        let current = self.current.as_ref().filter(|_| number == self.latest);
        current.map(|upgrade| upgrade.stage)
    }

    fn set_stage(&mut self, stage: UpgradeStage, now: Instant) {
        if let Some(upgrade) = &mut self.current {
            upgrade.stage = stage;
            upgrade.since = now;
        }
    }

    /// Takes the step that can be taken now, or ends what is overdue.
    pub(super) fn advance(&mut self, processes: &mut Processes, reaction: &mut Reaction) {
        let Some(upgrade) = &self.current else {
            return;
        };
        let (stage, limits) = (upgrade.stage, &reaction.limits);
        let limit = match stage {
            UpgradeStage::MakingRoom => limits.shutdown_timeout + limits.boot_timeout,
            UpgradeStage::Starting => limits.boot_timeout * BOOTS,
            UpgradeStage::HandingOver => HAND_OVER_TIMEOUT,
            UpgradeStage::Failed => limits.shutdown_timeout + KILL_AFTER,
        };
        if reaction.now.saturating_duration_since(upgrade.since) > limit {
            self.end_late(stage, reaction);
        } else if stage == UpgradeStage::MakingRoom {
            self.make_room(processes, reaction);
        }
    }

    fn end_late(&mut self, stage: UpgradeStage, reaction: &mut Reaction) {
        // An edge that was told to accept clients, or to end, must be gone before this one goes on.
        if let UpgradeStage::HandingOver | UpgradeStage::Failed = stage {
            reaction.kill(self.pid());
        }
        let cause = match stage {
            UpgradeStage::Failed => return self.set_stage(stage, reaction.now),
            UpgradeStage::MakingRoom => "the workers left no memory in time (memory)".to_owned(),
            UpgradeStage::Starting => {
                let limit = reaction.limits.boot_timeout;
                format!("the new edge is not ready within {BOOTS} times {limit:?} (boot_timeout)")
            }
            UpgradeStage::HandingOver => "the new edge did not accept clients in time".to_owned(),
        };
        self.fail(cause, reaction);
    }

    /// Starts the new edge when its mold fits beside all others.
    fn make_room(&mut self, processes: &mut Processes, reaction: &mut Reaction) {
        const ROOM: &str = "worker makes room for the upgrade";
        let missing = processes.missing_for_mold(reaction.now);
        let (Some(missing), Some(upgrade)) = (missing, &mut self.current) else {
            return;
        };
        if missing == 0 {
            self.set_stage(UpgradeStage::Starting, reaction.now);
            let number = self.latest;
            reaction.push(Command::StartSuccessor { number });
        } else if !end_for_room(processes, &mut upgrade.most_workers, ROOM, reaction) {
            self.fail(no_room(missing), reaction);
        }
    }

    /// The command that starts the new edge runs.
    pub(super) fn started(&mut self, pid: u32) {
        if let Some(upgrade) = &mut self.current {
            upgrade.pid = Some(pid);
        }
    }

    /// The workers of the new edge are ready: it is told to accept clients. From now on the files of the server may be
    /// its own.
    pub(super) fn ready(&mut self, number: u32, reaction: &mut Reaction) {
        if self.stage_of(number) == Some(UpgradeStage::Starting) {
            self.taker = self.pid();
            self.set_stage(UpgradeStage::HandingOver, reaction.now);
            reaction.push(Command::LetSuccessorServe);
        }
    }

    /// The new edge accepts clients. False if it was not told to.
    pub(super) fn serves(&mut self, number: u32, reaction: &mut Reaction) -> bool {
        let is_expected = self.stage_of(number) == Some(UpgradeStage::HandingOver);
        let Some(pid) = self.pid().filter(|_| is_expected) else {
            return false;
        };
        self.current = None;
        self.finished = Some(Ok(pid));
        reaction.push(Command::HandOver);
        reaction.log(LogLine::info("upgraded").number("successor", pid));
        true
    }

    /// The new edge cannot take over.
    pub(super) fn failed(&mut self, number: u32, cause: String, reaction: &mut Reaction) {
        let stage = self.stage_of(number);
        if let Some(UpgradeStage::Starting | UpgradeStage::HandingOver) = stage {
            self.fail(cause, reaction);
        }
    }

    /// Something else comes first.
    pub(super) fn cancel(&mut self, cause: &str, reaction: &mut Reaction) {
        let current = self.current.as_ref();
        if current.is_some_and(|it| it.stage != UpgradeStage::Failed) {
            self.fail(cause.to_owned(), reaction);
        }
    }

    /// Notes why it failed. It is over when the new edge has ended.
    fn fail(&mut self, cause: String, reaction: &mut Reaction) {
        reaction.log(LogLine::error("not upgraded").text("cause", &cause));
        if let Some(pid) = self.pid() {
            reaction.push(Command::Terminate { pid });
        }
        reaction.push(Command::KeepServing);
        self.finished = Some(Err(cause));
        self.set_stage(UpgradeStage::Failed, reaction.now);
        self.end_if_gone();
    }

    /// Somebody wants the new edge of this upgrade to end.
    pub(super) fn expect_end(&mut self, number: u32) {
        self.taker.take_if(|_| number == self.latest);
    }

    /// The new edge that was told to accept clients has died, if it has this process id.
    pub(super) fn take_back(&mut self, pid: u32) -> bool {
        let has_died = self.taker.take_if(|taker| *taker == pid).is_some();
        if has_died && matches!(self.finished, Some(Ok(_))) {
            self.finished = Some(Err("the new edge died after it had taken over".to_owned()));
        }
        has_died
    }

    /// The new edge has ended, if it has this process id.
    pub(super) fn exited(&mut self, pid: u32) -> bool {
        let current = self.current.as_mut();
        let Some(upgrade) = current.filter(|upgrade| upgrade.pid == Some(pid)) else {
            return false;
        };
        upgrade.pid = None;
        self.end_if_gone();
        true
    }

    fn end_if_gone(&mut self) {
        let is_over = |it: &mut Upgrade| it.stage == UpgradeStage::Failed && it.pid.is_none();
        self.current.take_if(is_over);
    }

    /// How many workers there may be.
    pub(super) fn most_workers(&self) -> u32 {
        let current = self.current.as_ref();
        current.map_or(u32::MAX, |upgrade| upgrade.most_workers)
    }

    /// What the one under way does, as users read it.
    pub fn stage(&self) -> Option<&'static str> {
        self.current.as_ref().map(|upgrade| upgrade.stage.name())
    }

    /// What is known of the upgrade with this number; `None` unless it is the latest one.
    pub fn report(&self, number: u32) -> Option<UpgradeReport> {
        if number != self.latest {
            return None;
        }
        Some(match (&self.finished, self.stage()) {
            (Some(Ok(pid)), _) => UpgradeReport::Done(*pid),
            (Some(Err(cause)), _) => UpgradeReport::Failed(cause.clone()),
            (None, stage) => UpgradeReport::UnderWay(stage?),
        })
    }
}

impl UpgradeStage {
    /// What users read.
    fn name(self) -> &'static str {
        match self {
            UpgradeStage::MakingRoom => "making room",
            UpgradeStage::Starting => "starting",
            UpgradeStage::HandingOver => "handing over",
            UpgradeStage::Failed => "ending the new edge",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::tests::reaction;

    #[test]
    fn a_new_edge_serves_only_after_it_was_told_to() {
        let mut reaction = reaction();
        let mut processes = Processes::new(1, 0, reaction.now);
        let mut upgrades = Upgrades::default();
        upgrades.begin(&mut processes, &mut reaction);
        upgrades.advance(&mut processes, &mut reaction);
        let start = Command::StartSuccessor { number: 1 };
        assert_eq!(reaction.commands.pop(), Some(start));
        upgrades.started(42);
        assert!(!upgrades.serves(1, &mut reaction));
        upgrades.ready(1, &mut reaction);
        assert_eq!(upgrades.stage(), Some("handing over"));
        assert!(upgrades.serves(1, &mut reaction));
        assert_eq!(upgrades.report(1), Some(UpgradeReport::Done(42)));
    }

    #[test]
    fn a_failed_upgrade_is_over_when_the_new_edge_has_ended() {
        let mut reaction = reaction();
        let mut processes = Processes::new(1, 0, reaction.now);
        let mut upgrades = Upgrades::default();
        upgrades.begin(&mut processes, &mut reaction);
        upgrades.started(42);
        upgrades.cancel("something else", &mut reaction);
        assert!(upgrades.is_under_way());
        assert!(upgrades.exited(42));
        assert!(!upgrades.is_under_way());
    }
}
