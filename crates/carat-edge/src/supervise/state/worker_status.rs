use std::time::Duration;

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
