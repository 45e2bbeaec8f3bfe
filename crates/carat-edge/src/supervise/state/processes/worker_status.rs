use std::time::{Duration, Instant};

use super::worker::Worker;
use super::worker_stage::WorkerStage;
use crate::dispatch::WorkerId;

/// A worker as the status lists it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkerStatus {
    pub(crate) id: WorkerId,
    pub(crate) generation: u32,
    pub(crate) pid: Option<u32>,
    pub(crate) stage: &'static str,
    /// How long it has been ready.
    pub(crate) age: Duration,
}

impl WorkerStatus {
    pub(crate) fn of(worker: &Worker, now: Instant) -> WorkerStatus {
        WorkerStatus {
            id: worker.id,
            generation: worker.generation,
            pid: worker.pid,
            stage: stage_name(worker),
            age: worker.age(now),
        }
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
