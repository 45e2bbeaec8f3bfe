//! What is reported about the state.

use std::time::{Duration, Instant};

use carat_policy::Elastic;

use super::State;
use super::phase::Phase;
use super::worker::Worker;
use super::worker_stage::WorkerStage;
use super::worker_status::WorkerStatus;
use crate::dispatch::WorkerId;

impl State {
    pub(crate) fn phase_name(&self) -> &'static str {
        match self.phase {
            Phase::Serving if self.is_announced => "serving",
            Phase::Serving => "starting",
            Phase::Draining(_) => "draining",
            Phase::HandedOver(_) => "finishing",
            Phase::Stopping(_) | Phase::Over => "stopping",
        }
    }

    /// Whether the server was told to stop.
    pub(crate) fn is_stopping(&self) -> bool {
        !matches!(self.phase, Phase::Serving)
    }

    /// Whether another edge accepts the clients.
    pub(crate) fn is_finishing(&self) -> bool {
        matches!(self.phase, Phase::HandedOver(_))
    }

    /// How much longer `drain_delay` or `upgrade_timeout` lasts; `None` unless one runs.
    pub(crate) fn draining_for(&self, now: Instant) -> Option<Duration> {
        match self.phase {
            Phase::Draining(delay) => Some(delay.until.saturating_duration_since(now)),
            Phase::HandedOver(handed) => Some(handed.until.saturating_duration_since(now)),
            _ => None,
        }
    }

    /// Between which bounds the number of workers follows the load.
    pub(crate) fn bounds(&self) -> Elastic {
        self.limits.elastic
    }

    /// How long requests may take to finish when the server is told to stop now.
    pub(crate) fn stops_within(&self) -> Duration {
        let delay = match self.phase {
            Phase::Serving => self.limits.drain_delay,
            // Told again, it does not wait for the rest.
            _ => Duration::ZERO,
        };
        delay + self.limits.shutdown_timeout
    }

    /// How many workers should run now.
    pub(crate) fn wanted(&self) -> u32 {
        self.wanted
    }

    /// The generation of the mold that forks.
    pub(crate) fn generation(&self) -> Option<u32> {
        self.molds.ready().map(|mold| mold.generation)
    }

    /// The workers with a known process id.
    pub(crate) fn workers_by_number(&self) -> Vec<(WorkerId, u32)> {
        let workers = self.workers.iter();
        workers.filter_map(|it| Some((it.id, it.pid?))).collect()
    }

    pub(crate) fn worker_statuses(&self, now: Instant) -> impl Iterator<Item = WorkerStatus> {
        self.workers.iter().map(move |worker| WorkerStatus {
            id: worker.id,
            generation: worker.generation,
            pid: worker.pid,
            stage: stage_name(worker),
            age: worker.age(now),
        })
    }
}

fn stage_name(worker: &Worker) -> &'static str {
    match worker.stage {
        WorkerStage::Booting { .. } => "booting",
        WorkerStage::Ready if worker.replacement.is_some() => "to be replaced",
        WorkerStage::Ready => "serving",
        WorkerStage::Retiring { .. } => "draining",
        WorkerStage::Stuck { .. } => "stuck",
        WorkerStage::Ending { .. } | WorkerStage::Killed { .. } | WorkerStage::Lost { .. } => {
            "ending"
        }
    }
}
