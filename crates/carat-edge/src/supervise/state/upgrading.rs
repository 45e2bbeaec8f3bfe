//! How a new edge takes over: it boots beside this one, with copies of the listeners, and accepts clients when its workers
//! are ready. From then on this one only finishes what its clients began. What fails before leaves everything as it was.

use std::time::Duration;

use carat_policy::ByteSize;

use super::State;
use super::phase::{HandedOver, KILL_AFTER, Phase};
use super::reaction::Reaction;
use super::stopping::LAST_RESPONSES;
use super::upgrade::{UpgradeReport, UpgradeStage};
use crate::supervise::command::Command;
use crate::supervise::event::Tick;
use crate::supervise::log_line::LogLine;

/// How many times `boot_timeout` a new edge may take: it reads the configuration, boots a mold, and boots workers.
const BOOTS: u32 = 3;

/// How long a new edge may take to accept clients when it is told to.
const HAND_OVER_TIMEOUT: Duration = Duration::from_secs(10);

impl State {
    /// Why no upgrade can begin now; `None` if one can.
    pub(crate) fn upgrade_obstacle(&self) -> Option<&'static str> {
        match self.phase {
            Phase::HandedOver(_) => Some("a new edge has taken over already"),
            Phase::Draining(_) | Phase::Stopping(_) | Phase::Over => Some("the server is stopping"),
            Phase::Serving if !self.is_announced => Some("the server is still starting"),
            Phase::Serving if self.upgrades.current.is_some() => {
                Some("an upgrade is already under way")
            }
            Phase::Serving if self.restarts.current.is_some() => Some("a restart is under way"),
            Phase::Serving if self.upgrades.predecessor_bytes > 0 => {
                Some("the server before this one has not ended yet (upgrade_timeout)")
            }
            Phase::Serving => None,
        }
    }

    /// `carat upgrade` or SIGUSR2.
    pub(super) fn upgrade_requested(&mut self, reaction: &mut Reaction) {
        if let Some(obstacle) = self.upgrade_obstacle() {
            return reaction.log(LogLine::warn("no upgrade").text("cause", obstacle));
        }
        self.upgrades.begin(reaction.now);
        // Two molds at once are enough.
        self.end_previous(reaction);
        reaction.log(LogLine::info("upgrading"));
    }

    /// Takes the step of an upgrade that can be taken now, or ends what is overdue.
    pub(super) fn advance_upgrade(&mut self, reaction: &mut Reaction) {
        let Some(upgrade) = &self.upgrades.current else {
            return;
        };
        let (stage, limits) = (upgrade.stage, &reaction.limits);
        let limit = match stage {
            UpgradeStage::MakingRoom => limits.shutdown_timeout + limits.boot_timeout,
            UpgradeStage::Starting => limits.boot_timeout * BOOTS,
            UpgradeStage::HandingOver => HAND_OVER_TIMEOUT,
            UpgradeStage::Failed => limits.shutdown_timeout + KILL_AFTER,
        };
        let pid = upgrade.pid;
        if reaction.now.saturating_duration_since(upgrade.since) > limit {
            return self.end_late_upgrade(stage, pid, reaction);
        }
        if stage == UpgradeStage::MakingRoom {
            self.make_room_for_upgrade(reaction);
        }
    }

    fn end_late_upgrade(&mut self, stage: UpgradeStage, pid: Option<u32>, reaction: &mut Reaction) {
        // An edge that was told to accept clients, or to end, must be gone before this one goes on.
        if let (Some(pid), UpgradeStage::HandingOver | UpgradeStage::Failed) = (pid, stage) {
            reaction.push(Command::Kill { pid });
        }
        match stage {
            UpgradeStage::Failed => self.upgrades.set_stage(stage, reaction.now),
            UpgradeStage::MakingRoom => {
                let cause = "the workers left no memory in time (memory)".to_owned();
                self.upgrade_failed(cause, reaction);
            }
            UpgradeStage::Starting => {
                let limit = reaction.limits.boot_timeout;
                let cause = format!(
                    "the new edge is not ready within {BOOTS} times {limit:?} (boot_timeout)"
                );
                self.upgrade_failed(cause, reaction);
            }
            UpgradeStage::HandingOver => {
                let cause = "the new edge did not accept clients in time".to_owned();
                self.upgrade_failed(cause, reaction);
            }
        }
    }

    /// Starts the new edge when its mold fits beside all others.
    fn make_room_for_upgrade(&mut self, reaction: &mut Reaction) {
        // A refork that is under way ends first.
        if self.molds.candidate.is_some() || !self.knows_memory(reaction) {
            return;
        }
        let missing = self.memory.missing_for_mold();
        if missing == 0 {
            self.upgrades
                .set_stage(UpgradeStage::Starting, reaction.now);
            reaction.push(Command::StartSuccessor {
                number: self.upgrades.latest(),
            });
        } else if !self.end_one_for_room("worker makes room for the upgrade", reaction) {
            let missing = ByteSize(missing);
            let cause = format!("no memory for a second mold: {missing} more are needed (memory)");
            self.upgrade_failed(cause, reaction);
        }
    }

    /// The command that starts the new edge runs.
    pub(super) fn successor_started(&mut self, pid: u32) {
        if let Some(upgrade) = &mut self.upgrades.current {
            upgrade.pid = Some(pid);
        }
    }

    /// The workers of the new edge are ready.
    pub(super) fn successor_ready(&mut self, upgrade: u32, reaction: &mut Reaction) {
        if self.upgrades.stage_of(upgrade) == Some(UpgradeStage::Starting) {
            self.upgrades
                .set_stage(UpgradeStage::HandingOver, reaction.now);
            reaction.push(Command::LetSuccessorServe);
        }
    }

    /// The new edge accepts clients. This one only finishes what its clients began.
    pub(super) fn successor_serves(&mut self, upgrade: u32, reaction: &mut Reaction) {
        if self.upgrades.stage_of(upgrade) != Some(UpgradeStage::HandingOver) {
            return;
        }
        let Some(pid) = self.upgrades.done() else {
            return;
        };
        reaction.push(Command::HandOver);
        reaction.log(LogLine::info("upgraded").number("successor", pid));
        self.phase = Phase::HandedOver(HandedOver {
            until: reaction.now + reaction.limits.upgrade_timeout,
            has_clients: true,
        });
    }

    /// The new edge cannot take over.
    pub(super) fn successor_failed(
        &mut self,
        upgrade: u32,
        cause: String,
        reaction: &mut Reaction,
    ) {
        match self.upgrades.stage_of(upgrade) {
            Some(UpgradeStage::Starting | UpgradeStage::HandingOver) => {
                self.upgrade_failed(cause, reaction);
            }
            Some(UpgradeStage::MakingRoom | UpgradeStage::Failed) | None => {}
        }
    }

    /// Something else comes first.
    pub(super) fn cancel_upgrade(&mut self, cause: &str, reaction: &mut Reaction) {
        match self.upgrades.stage() {
            None | Some(UpgradeStage::Failed) => {}
            Some(_) => self.upgrade_failed(cause.to_owned(), reaction),
        }
    }

    fn upgrade_failed(&mut self, cause: String, reaction: &mut Reaction) {
        reaction.log(LogLine::error("not upgraded").text("cause", &cause));
        if let Some(pid) = self.upgrades.current.as_ref().and_then(|it| it.pid) {
            reaction.push(Command::Terminate { pid });
        }
        reaction.push(Command::KeepServing);
        self.upgrades.fail(cause, reaction.now);
    }

    /// Serves until no client is connected, or `upgrade_timeout` is over.
    pub(super) fn advance_handed_over(&mut self, handed: HandedOver, reaction: &mut Reaction) {
        let is_late = reaction.now >= handed.until;
        if handed.has_clients && !is_late {
            return self.keep_up(reaction);
        }
        let left = handed.until.saturating_duration_since(reaction.now);
        // Idle connections close soon.
        let limit = left
            .min(reaction.limits.shutdown_timeout)
            .max(LAST_RESPONSES);
        let warning = "requests were still running after upgrade_timeout";
        self.begin_stop_within(limit, warning, reaction);
        self.advance_stop(reaction);
    }

    /// How many workers may run.
    pub(super) fn most_workers(&self) -> u32 {
        let others = self.restarts.most_workers();
        self.wanted.min(others).min(self.upgrades.most_workers())
    }

    /// No client comes any more, so fewer and fewer workers are needed.
    pub(super) fn follow_clients(&mut self, tick: &Tick, reaction: &mut Reaction) {
        if let Phase::HandedOver(handed) = &mut self.phase {
            handed.has_clients = tick.has_clients;
        }
        let needed = tick.clients.div_ceil(reaction.limits.slots.max(1)).max(1);
        let needed = u32::try_from(needed).unwrap_or(u32::MAX);
        self.wanted = self.wanted.min(needed);
        self.retire_surplus(reaction);
    }

    /// This server succeeds another one: it is to be announced when all of its workers are ready, and goes on with the
    /// numbers of that one.
    pub(crate) fn succeed_server(&mut self, number: u32) {
        self.is_successor = true;
        self.upgrades.succeed(number, std::process::id());
    }

    /// The server before this one uses so much memory until it has ended.
    pub(super) fn predecessor_uses(&mut self, bytes: u64, reaction: &mut Reaction) {
        if (self.upgrades.predecessor_bytes > 0) != (bytes > 0) {
            self.memory.hurry(reaction.now);
        }
        self.upgrades.predecessor_bytes = bytes;
    }

    /// Announces a successor as soon as it has all workers that it can have now.
    pub(super) fn announce_successor(&mut self, reaction: &mut Reaction) {
        if self.is_announced || !self.is_successor || self.workers.serving() == 0 {
            return;
        }
        let is_short = self.workers.missing(self.wanted) > 0;
        let is_stuck = !self.worker_backoff.allows(reaction.now)
            || (self.memory.is_current(reaction.now) && self.room() == 0);
        if self.workers.booting() == 0 && (!is_short || is_stuck) {
            self.is_announced = true;
            reaction.push(Command::Announce);
        }
    }

    /// The number of the latest upgrade.
    pub(crate) fn latest_upgrade(&self) -> u32 {
        self.upgrades.latest()
    }

    /// What is known of the upgrade with this number.
    pub(crate) fn upgrade_report(&self, number: u32) -> Option<UpgradeReport> {
        self.upgrades.report(number)
    }

    /// What the upgrade under way does.
    pub(crate) fn upgrade_stage(&self) -> Option<&'static str> {
        self.upgrades.stage().map(UpgradeStage::name)
    }
}
