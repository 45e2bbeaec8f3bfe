use std::time::{Duration, Instant};

use super::worker::Worker;
use super::worker_stage::WorkerStage;
use carat_log::WorkerId;

/// A worker as `carat status` shows it.
#[derive(Clone, Copy)]
pub struct WorkerStatus {
    /// The identity of the worker.
    pub id: WorkerId,
    /// The generation of the mold that forked the worker.
    pub generation: u32,
    /// The process id; `None` before the worker's first message.
    pub pid: Option<u32>,
    /// The worker's stage as `carat status` shows it.
    pub stage: &'static str,
    /// How long the worker has been ready.
    pub age: Duration,
}

impl WorkerStatus {
    /// The status of this worker.
    pub fn of(worker: &Worker, now: Instant) -> WorkerStatus {
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
