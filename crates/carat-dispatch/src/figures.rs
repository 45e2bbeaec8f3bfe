use std::sync::Arc;
use std::time::{Duration, Instant};

use carat_exchange::SpoolQuota;
use carat_log::{LaneTag, WorkerId};

use crate::dispatcher::Dispatcher;
use crate::lanes::RunningRequest;
use crate::queue::PoolReport;
use crate::rest::CollectionTotals;

/// The figures about the requests of a dispatcher. Reading them changes nothing.
#[derive(Clone, Copy)]
pub struct RequestFigures<'a>(&'a Dispatcher);

impl Dispatcher {
    /// The figures about the requests.
    pub fn figures(&self) -> RequestFigures<'_> {
        RequestFigures(self)
    }

    /// The quota that all spooled bodies share.
    pub fn spool_quota(&self) -> &Arc<SpoolQuota> {
        &self.spool_quota
    }
}

impl RequestFigures<'_> {
    /// How many requests the workers have begun, or are about to.
    pub fn running(self) -> usize {
        self.0.lanes.running()
    }

    /// How many requests this worker has.
    pub fn running_on(self, worker: WorkerId) -> usize {
        self.0.lanes.running_on(worker)
    }

    /// How many tunnels this worker has.
    pub fn tunnels_on(self, worker: WorkerId) -> usize {
        self.0.lanes.tunnels_on(worker)
    }

    /// Whether a worker holds no request and no tunnel.
    pub fn is_drained(self, worker: WorkerId) -> bool {
        self.0.lanes.is_drained(worker)
    }

    /// The oldest requests that the workers have begun, at most `limit`, and how many more there are.
    pub fn running_requests(self, now: Instant, limit: usize) -> (Vec<RunningRequest>, usize) {
        self.0.lanes.running_requests(now, limit)
    }

    /// Describes a request that a worker has.
    pub fn running_request(self, tag: LaneTag, id: u32, now: Instant) -> Option<RunningRequest> {
        self.0.lanes.running_request(tag, id, now)
    }

    /// How many requests wait for a worker.
    pub fn waiting(self) -> usize {
        self.0.queue.waiting()
    }

    /// How many requests may wait: the option `queue_limit`.
    pub fn queue_limit(self) -> usize {
        self.0.timeouts.settings().queue_limit
    }

    /// The figures of each pool.
    pub fn pools(self) -> Vec<PoolReport> {
        self.0.queue.reports(self.running(), self.queue_limit())
    }

    /// The full garbage collections of the workers.
    pub fn collections(self) -> CollectionTotals {
        self.0.resting.totals()
    }

    /// Whether the newest requests are served first.
    pub fn is_overloaded(self) -> bool {
        self.0.queue.is_overloaded()
    }

    /// How much longer a pause lasts; `None` without one.
    pub fn paused_for(self, now: Instant) -> Option<Duration> {
        self.0.hold.left(now)
    }

    /// The bytes of bodies in files.
    pub fn spooled(self) -> u64 {
        self.0.spool_quota.used()
    }
}
