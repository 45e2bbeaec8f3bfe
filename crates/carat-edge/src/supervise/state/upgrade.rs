use std::time::Instant;

/// The upgrade under way, and the last one.
#[derive(Debug, Default)]
pub(super) struct Upgrades {
    /// The number of the latest one.
    latest: u32,
    pub(super) current: Option<Upgrade>,
    /// How the latest one ended: with the process id of the new edge, or the reason why there is none.
    finished: Option<Result<u32, String>>,
    /// What the server before this one uses, which is about to end.
    pub(super) predecessor_bytes: u64,
}

/// An upgrade under way: a new edge is to take the listeners over.
#[derive(Debug)]
pub(super) struct Upgrade {
    pub(super) stage: UpgradeStage,
    /// When its stage began.
    pub(super) since: Instant,
    /// The process id of the new edge while it runs.
    pub(super) pid: Option<u32>,
    /// The most workers that may run, so that the new server has room.
    pub(super) most_workers: u32,
}

/// How far an upgrade has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UpgradeStage {
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
pub(crate) enum UpgradeReport {
    UnderWay(&'static str),
    /// The new edge has this process id.
    Done(u32),
    Failed(String),
}

impl Upgrades {
    /// Continues the numbers of the server that this one succeeds.
    pub(super) fn succeed(&mut self, number: u32, pid: u32) {
        self.latest = number;
        self.finished = Some(Ok(pid));
    }

    pub(super) fn latest(&self) -> u32 {
        self.latest
    }

    pub(super) fn begin(&mut self, now: Instant) {
        self.latest += 1;
        self.finished = None;
        self.current = Some(Upgrade {
            stage: UpgradeStage::MakingRoom,
            since: now,
            pid: None,
            most_workers: u32::MAX,
        });
    }

    pub(super) fn stage(&self) -> Option<UpgradeStage> {
        self.current.as_ref().map(|upgrade| upgrade.stage)
    }

    /// The stage of the upgrade with this number, if that one is under way.
    pub(super) fn stage_of(&self, number: u32) -> Option<UpgradeStage> {
        self.stage().filter(|_| number == self.latest)
    }

    pub(super) fn set_stage(&mut self, stage: UpgradeStage, now: Instant) {
        if let Some(upgrade) = &mut self.current {
            upgrade.stage = stage;
            upgrade.since = now;
        }
    }

    /// The new edge serves: its process id.
    pub(super) fn done(&mut self) -> Option<u32> {
        let pid = self.current.as_ref()?.pid?;
        self.current = None;
        self.finished = Some(Ok(pid));
        Some(pid)
    }

    /// Notes why it failed. It is over when the new edge has ended.
    pub(super) fn fail(&mut self, cause: String, now: Instant) {
        self.finished = Some(Err(cause));
        self.set_stage(UpgradeStage::Failed, now);
        self.end_if_gone();
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

    /// What is known of the upgrade with this number; `None` unless it is the latest one.
    pub(super) fn report(&self, number: u32) -> Option<UpgradeReport> {
        if number != self.latest {
            return None;
        }
        Some(match (&self.finished, self.stage()) {
            (Some(Ok(pid)), _) => UpgradeReport::Done(*pid),
            (Some(Err(cause)), _) => UpgradeReport::Failed(cause.clone()),
            (None, stage) => UpgradeReport::UnderWay(stage?.name()),
        })
    }
}

impl UpgradeStage {
    /// What users read.
    pub(super) fn name(self) -> &'static str {
        match self {
            UpgradeStage::MakingRoom => "making room",
            UpgradeStage::Starting => "starting",
            UpgradeStage::HandingOver => "handing over",
            UpgradeStage::Failed => "ending the new edge",
        }
    }
}
