use std::time::Instant;

use carat_exchange::WorkerTunnels;
use carat_log::LaneTag;

/// The tunnels of a worker that gets no more requests.
#[derive(Debug)]
pub(super) struct DrainingTunnels {
    /// A lane of the worker.
    pub(super) lane: LaneTag,
    pub(super) tunnels: WorkerTunnels,
    pub(super) since: Instant,
}
