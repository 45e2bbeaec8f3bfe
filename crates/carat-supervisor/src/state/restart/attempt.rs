use std::time::Instant;

use carat_policy::{ByteSize, MoldRoom};

use crate::generation_settings::GenerationSettings;
use crate::state::processes::no_room;
use crate::state::reaction::Reaction;
use carat_log::WorkerId;

/// If this many new workers fail to boot, a restart goes back to the previous mold.
const FAILURES_LIMIT: u32 = 3;

/// A restart under way: new workers from a new mold, or from the previous one, replace all others.
#[derive(Debug)]
pub(super) struct Restart {
    pub number: u32,
    pub stage: RestartStage,
    pub begun: Instant,
    /// When the stage began, or when its time limit begins.
    pub since: Instant,
    /// The settings of the new generation; known after `Reading`.
    pub settings: Option<GenerationSettings>,
    /// The most workers that may run, so that the new mold has room.
    pub most_workers: u32,
    /// Whether the further processes of the application end, so that the new mold has room.
    pub ends_apps: bool,
    /// Whether the requests were held once in vain, because a slow response did not finish.
    pub has_held: bool,
    /// How many new workers failed to boot.
    failures: u32,
    /// Whether a user asked for the previous mold.
    pub is_rollback: bool,
    /// Why the restart goes back to the previous mold.
    pub undone: Option<String>,
}

/// How far a restart has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RestartStage {
    /// The configuration is being read.
    Reading,
    /// Workers end until there is memory for another mold.
    MakingRoom,
    /// The new mold loads the application.
    Loading,
    /// The new mold forks its first worker as soon as there is memory for it.
    Forking,
    /// The first worker of the new mold boots, and is checked before it gets a request.
    Trial(WorkerId),
    /// The new mold is the current one. The workers of older molds are being replaced.
    Replacing,
}

/// The consequence of a new worker's failure to boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BootFailure {
    /// A further worker is forked.
    Retry,
    /// The previous mold takes over again.
    GoBack,
}

impl Restart {
    pub(super) fn new(number: u32, stage: RestartStage, now: Instant) -> Restart {
        Restart {
            number,
            stage,
            begun: now,
            since: now,
            settings: None,
            most_workers: u32::MAX,
            ends_apps: false,
            has_held: false,
            failures: 0,
            is_rollback: false,
            undone: None,
        }
    }

    /// Whether the stage takes too long. The limit includes the time that workers have to end or to boot.
    pub(super) fn is_late(&self, reaction: &Reaction) -> bool {
        let limit = reaction.limits.shutdown_timeout + reaction.limits.boot_timeout;
        reaction.now.saturating_duration_since(self.since) > limit
    }

    /// Counts a worker that failed to boot after the trial. After several failures of the new code, the restart goes
    /// back.
    pub(super) fn count_failure(&mut self, generation: u32, oldest: u32) -> BootFailure {
        let is_new = self.stage == RestartStage::Replacing && generation >= oldest;
        self.failures += u32::from(is_new);
        if !is_new || self.failures < FAILURES_LIMIT || self.undone.is_some() {
            return BootFailure::Retry;
        }
        self.failures = 0;
        BootFailure::GoBack
    }
}

impl RestartStage {
    /// The stage as users read it.
    pub(super) fn name(self) -> &'static str {
        match self {
            RestartStage::Reading => "reading the configuration",
            RestartStage::MakingRoom => "making room",
            RestartStage::Loading => "loading",
            RestartStage::Forking | RestartStage::Trial(_) => "checking",
            RestartStage::Replacing => "replacing",
        }
    }
}

/// Why there is no second mold, and what to do.
pub(super) fn refusal(missing: u64, room: &MoldRoom) -> String {
    let short = ByteSize(room.shortage(missing));
    let cause = no_room(missing);
    let cause = format!("{cause}: raise the limit of the container or `memory` by {short}");
    if room.may_hold || room.shortage_without_workers(missing) > 0 {
        cause
    } else {
        format!("{cause}, or allow `restart_hold`")
    }
}
