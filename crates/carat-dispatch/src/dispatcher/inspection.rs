//! The state of the dispatcher, for simulations. The path of each simulated request is its number.

use std::collections::BTreeSet;

use crate::dispatcher::Dispatcher;
use crate::lanes::{Exchange, InFlightRequest, Lane, LaneState, RequestStage};
use carat_exchange::Call;
use carat_wire::is_behind;

/// Where the requests are.
#[derive(Debug)]
pub struct DispatcherView {
    /// The requests in the queue whose clients wait.
    pub queued: Vec<usize>,
    /// The length of the queue. It includes requests that a part makes, which have no number.
    pub queue_length: usize,
    /// How many requests may wait.
    pub queue_limit: usize,
    /// Requests that the lanes could take now.
    pub free_slots: usize,
    /// All lanes, in the order in which they opened.
    pub lanes: Vec<LaneView>,
    /// Whether a request waits in the queue although a lane is idle.
    pub waits_beside_idle_lane: bool,
    /// The requests that a worker has not begun although another lane is idle.
    pub behind_beside_idle_lane: Vec<usize>,
    /// For each pool but the main pool: how many of its requests the lanes hold, and how many they may hold.
    pub shares: Vec<(usize, usize)>,
    /// The serial numbers of the workers that rest.
    pub resting: BTreeSet<u64>,
    /// How many workers take requests.
    pub serving: usize,
    /// Lanes that count as idle although they hold a request or take none.
    pub wrongly_idle: usize,
}

/// The requests of a lane.
#[derive(Debug)]
pub struct LaneView {
    /// Whether the lane takes requests.
    pub is_open: bool,
    /// Requests that its thread runs at once.
    pub capacity: usize,
    /// The requests without a response whose clients wait.
    pub waiting: Vec<usize>,
    /// All requests.
    pub held: usize,
    /// Bytes of the requests that the worker has not begun.
    pub bytes_ahead: usize,
    /// The indexes of the pools of the requests, without requests of the main pool.
    pools: Vec<usize>,
}

impl DispatcherView {
    /// Whether another request is certain to be accepted, whatever its pool.
    pub fn room(&self) -> bool {
        self.shares.is_empty() && self.queue_length < self.queue_limit + self.free_slots
    }
}

impl Dispatcher {
    /// The requests of the dispatcher and its lanes.
    pub fn inspect(&self) -> DispatcherView {
        let idles = self.lanes.has_idle();
        let lanes = self.lanes.list();
        let views: Vec<_> = lanes.iter().map(|lane| lane.inspect()).collect();
        let has = |pool: usize| {
            let pools = views.iter().flat_map(|lane| &lane.pools);
            pools.filter(|index| **index == pool).count()
        };
        let workers = |state: LaneState| -> BTreeSet<u64> {
            let lanes = lanes.iter().filter(|lane| lane.state() == state);
            lanes.map(|lane| lane.tag.worker.serial).collect()
        };
        let resting = workers(LaneState::Resting);
        let serving = workers(LaneState::Open).difference(&resting).count();
        let shares = self.queue.shares().into_iter();
        DispatcherView {
            queued: (self.queue.list(|exchange| number_of(&exchange.call)))
                .into_iter()
                .flatten()
                .collect(),
            queue_length: self.queue.list(|_| ()).len(),
            queue_limit: self.timeouts.settings().queue_limit,
            shares: shares.map(|(pool, share)| (has(pool), share)).collect(),
            free_slots: self.lanes.free_slots(),
            lanes: views,
            waits_beside_idle_lane: idles && self.queue.has_client(),
            behind_beside_idle_lane: (lanes.iter().filter(|_| idles))
                .flat_map(|lane| lane.behind())
                .collect(),
            resting,
            serving,
            wrongly_idle: self.lanes.count_wrongly_idle(),
        }
    }
}

impl Lane {
    pub(crate) fn is_free(&self) -> bool {
        self.state() == LaneState::Open && self.is_empty()
    }

    /// The requests that the worker has not begun.
    fn behind(&self) -> Vec<usize> {
        let begun = self.begun();
        let in_flight = self.in_flight();
        let behind = in_flight
            .iter()
            .filter(|request| is_behind(request.id, begun));
        let numbers = behind.filter_map(|request| match &request.stage {
            RequestStage::Waiting(exchange) => number_of(&exchange.call),
            RequestStage::Streaming(..) | RequestStage::TakenOver => None,
        });
        numbers.collect()
    }

    fn inspect(&self) -> LaneView {
        let in_flight = self.in_flight();
        let waits = |exchange: &Exchange| !exchange.is_cancelled() && !exchange.is_settled();
        let waiting = in_flight.iter().filter_map(|request| match &request.stage {
            RequestStage::Waiting(exchange) => {
                number_of(&exchange.call).filter(|_| waits(exchange))
            }
            RequestStage::Streaming(..) | RequestStage::TakenOver => None,
        });
        let pools = in_flight.iter().filter_map(InFlightRequest::pool);
        LaneView {
            is_open: self.state() == LaneState::Open,
            capacity: usize::from(self.capacity.get()),
            waiting: waiting.collect(),
            held: in_flight.len(),
            bytes_ahead: in_flight.bytes_behind(self.begun()),
            pools: pools.collect(),
        }
    }
}

/// The number of a simulated request; `None` for a request of a part.
fn number_of(call: &Call) -> Option<usize> {
    call.parts.uri.path()[1..].parse().ok()
}
