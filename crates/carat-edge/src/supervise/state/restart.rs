use std::collections::VecDeque;
use std::time::{Duration, Instant};

use carat_policy::CanaryRule;

use super::mold::Mold;
use crate::dispatch::WorkerId;
use crate::supervise::generation_settings::GenerationSettings;

/// How many restarts are remembered when they are over.
const FINISHED_LIMIT: usize = 16;

/// The restart under way, the next one, and those that are over.
#[derive(Debug, Default)]
pub(super) struct Restarts {
    /// The number of the latest one.
    latest: u32,
    pub(super) current: Option<Restart>,
    /// The number of the one that follows. All requests that arrive meanwhile get the same one.
    queued: Option<u32>,
    finished: VecDeque<(u32, Result<(), String>)>,
    /// How the last one ended, until that is reported.
    pub(super) news: Option<Result<(), String>>,
    /// The mold that served before the last restart.
    pub(super) previous: Option<PreviousMold>,
}

/// A restart under way: new workers from a new mold, or from the previous one, replace all others.
#[derive(Debug)]
pub(super) struct Restart {
    pub(super) number: u32,
    pub(super) stage: RestartStage,
    pub(super) begun: Instant,
    /// When its stage began.
    pub(super) since: Instant,
    /// The share that the new code gets at first, if not that of its settings.
    pub(super) percent: Option<u8>,
    /// What happens while it waits for a decision.
    pub(super) hold: Option<CanaryHold>,
    /// What the new generation runs with; known after `Reading`.
    pub(super) settings: Option<GenerationSettings>,
    /// The most workers that may run, so that the new mold has room.
    pub(super) most_workers: u32,
    /// How many new workers failed to boot.
    pub(super) failures: u32,
    /// Whether somebody wanted the previous mold back.
    pub(super) is_rollback: bool,
    /// Why it goes back to the previous mold.
    pub(super) undone: Option<String>,
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
    /// That worker boots, and is checked before it gets a request.
    Trial(WorkerId),
    /// Workers of the new mold get a share of the requests, until somebody decides.
    Canary,
    /// Its mold is the current one. The workers of others are being replaced.
    Replacing,
}

/// A restart that waits for a decision.
#[derive(Debug, Clone, Copy)]
pub(super) struct CanaryHold {
    pub(super) rule: CanaryRule,
    /// Workers of each code that died while they served.
    pub(super) old_deaths: u32,
    pub(super) new_deaths: u32,
}

/// A mold that can become the current one again.
#[derive(Debug)]
pub(super) struct PreviousMold {
    pub(super) mold: Mold,
    pub(super) settings: GenerationSettings,
    /// It ends then; unknown while its workers are being replaced.
    pub(super) until: Option<Instant>,
}

/// What is known of a restart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RestartReport {
    Queued,
    UnderWay(&'static str),
    Done,
    Failed(String),
}

impl Restarts {
    /// The number of the latest one that was asked for.
    pub(super) fn latest(&self) -> u32 {
        self.latest
    }

    /// Begins the next one.
    pub(super) fn begin(&mut self, stage: RestartStage, now: Instant) {
        let number = self.queued.take().unwrap_or(self.latest + 1);
        self.latest = self.latest.max(number);
        self.current = Some(Restart {
            number,
            stage,
            begun: now,
            since: now,
            percent: None,
            hold: None,
            settings: None,
            most_workers: u32::MAX,
            failures: 0,
            is_rollback: false,
            undone: None,
        });
    }

    /// Notes that another one follows.
    pub(super) fn queue(&mut self) {
        if self.queued.is_none() {
            self.latest += 1;
            self.queued = Some(self.latest);
        }
    }

    /// Whether another one follows.
    pub(super) fn has_queued(&self) -> bool {
        self.queued.is_some()
    }

    /// The one that follows does not begin.
    pub(super) fn drop_queued(&mut self, cause: &str) {
        if let Some(number) = self.queued.take() {
            self.remember(number, Err(cause.to_owned()));
        }
    }

    /// Ends the current one, and returns it.
    pub(super) fn finish(&mut self, result: Result<(), String>) -> Option<Restart> {
        let restart = self.current.take()?;
        self.remember(restart.number, result);
        Some(restart)
    }

    fn remember(&mut self, number: u32, result: Result<(), String>) {
        if self.finished.len() == FINISHED_LIMIT {
            self.finished.pop_front();
        }
        self.news = Some(result.clone());
        self.finished.push_back((number, result));
    }

    /// The previous mold.
    pub(super) fn mold(&self) -> Option<&Mold> {
        self.previous.as_ref().map(|previous| &previous.mold)
    }

    pub(super) fn stage(&self) -> Option<RestartStage> {
        self.current.as_ref().map(|restart| restart.stage)
    }

    /// Goes on to this stage.
    pub(super) fn set_stage(&mut self, stage: RestartStage, now: Instant) {
        if let Some(restart) = &mut self.current {
            restart.stage = stage;
            restart.since = now;
        }
    }

    /// How long its stage has lasted.
    pub(super) fn stage_age(&self, now: Instant) -> Duration {
        let since = self.current.as_ref().map_or(now, |it| it.since);
        now.saturating_duration_since(since)
    }

    /// What happens while the current one waits for a decision.
    pub(super) fn hold(&self) -> Option<CanaryHold> {
        self.current.as_ref()?.hold
    }

    pub(super) fn end_hold(&mut self) {
        if let Some(restart) = &mut self.current {
            restart.hold = None;
        }
    }

    /// The workers boot after all.
    pub(super) fn forget_failures(&mut self) {
        if let Some(restart) = &mut self.current {
            restart.failures = 0;
        }
    }

    /// Whether this worker is on trial.
    pub(super) fn is_trial(&self, worker: WorkerId) -> bool {
        self.stage() == Some(RestartStage::Trial(worker))
    }

    /// Whether the workers of older generations are being replaced.
    pub(super) fn is_replacing(&self) -> bool {
        self.stage() == Some(RestartStage::Replacing)
    }

    /// How many workers there may be.
    pub(super) fn most_workers(&self) -> u32 {
        let current = self.current.as_ref();
        current.map_or(u32::MAX, |restart| restart.most_workers)
    }

    /// What is known of the restart with this number; `None` if that is long over, or never was.
    pub(super) fn report(&self, number: u32) -> Option<RestartReport> {
        if self.queued == Some(number) {
            return Some(RestartReport::Queued);
        }
        let current = self.current.as_ref();
        if let Some(restart) = current.filter(|restart| restart.number == number) {
            return Some(RestartReport::UnderWay(restart.stage.name()));
        }
        let mut finished = self.finished.iter();
        let (_, result) = finished.find(|(finished, _)| *finished == number)?;
        Some(match result {
            Ok(()) => RestartReport::Done,
            Err(cause) => RestartReport::Failed(cause.clone()),
        })
    }
}

impl RestartStage {
    /// What users read.
    pub(super) fn name(self) -> &'static str {
        match self {
            RestartStage::Reading => "reading the configuration",
            RestartStage::MakingRoom => "making room",
            RestartStage::Loading => "loading",
            RestartStage::Forking | RestartStage::Trial(_) => "checking",
            RestartStage::Canary => "canary",
            RestartStage::Replacing => "replacing",
        }
    }
}
