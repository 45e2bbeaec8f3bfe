//! From a received request to the application's reply: one queue, and lanes to the workers.

mod code_renewal;
mod dispatcher;
mod figures;
#[cfg(any(test, feature = "fixture"))]
mod fixture;
mod lane_choice;
mod rebalance;
mod tunnel_drain;

mod frames {
    //! The frames that travel on a lane.

    mod decode;
    mod early_hints;
    mod encode;
    mod failure_page;
    mod frame_socket;

    pub(crate) use decode::reply_response;
    pub(crate) use early_hints::{HintAllowance, hint_fields};
    pub(crate) use encode::encode;
    pub use failure_page::FailurePage;
    pub use frame_socket::{FrameSocket, FrameTransport};
}

mod lanes {
    //! The lanes, the requests that each of them holds, and the choice among idle lanes.

    mod exchange;
    mod idle_lanes;
    mod in_flight;
    mod lane;
    mod lane_end;
    mod lane_event;
    mod pool_share;

    pub use exchange::PendingReply;
    pub(crate) use exchange::{Exchange, LoggedRequest};
    pub(crate) use idle_lanes::IdleLanes;
    pub(crate) use in_flight::{InFlightRequest, RequestStage};
    pub use in_flight::{RunningRequest, WorkerRequests};
    pub use lane::Lane;
    pub(crate) use lane::{LaneState, PREFETCH_WAIT};
    pub(crate) use lane_end::{cut_off, cut_off_lane, fail_over, refuse_trial, report_request};
    pub use lane_event::{LaneEvent, LaneEvents};
    pub(crate) use pool_share::PoolMembership;
}

mod queue {
    //! The requests that wait for a lane, and for how long they may.

    mod controlled_delay;
    mod excluded_times;
    mod hold;
    mod path_pattern;
    mod pool_queues;
    mod queue_time;
    mod request_timeouts;
    mod waiting_queue;

    pub(crate) use hold::Hold;
    pub use path_pattern::PathPattern;
    pub(crate) use pool_queues::PoolQueues;
    pub use pool_queues::{MAIN_POOL, PoolReport};
    pub(crate) use request_timeouts::RequestTimeouts;
}

mod rest {
    //! The workers that rest: each runs a full garbage collection while it serves nobody.

    mod collection_totals;
    mod resting_workers;

    pub use collection_totals::{CollectionCount, CollectionGroup, CollectionTotals, HasteCounts};
    pub(crate) use resting_workers::RestingWorkers;
}

pub use code_renewal::{CodeCheck, CodeRenewal};
pub use dispatcher::Dispatcher;
#[cfg(any(test, feature = "fixture"))]
pub use dispatcher::inspection::{DispatcherView, LaneView};
pub use dispatcher::traffic::carry;
pub use dispatcher::worker_rests::WorkerRests;
pub use figures::RequestFigures;
#[cfg(any(test, feature = "fixture"))]
pub use fixture::{Fixture, locally};
pub use frames::{FailurePage, FrameSocket, FrameTransport};
pub use lanes::{Lane, LaneEvent, LaneEvents, PendingReply, RunningRequest, WorkerRequests};
pub use queue::{MAIN_POOL, PathPattern, PoolReport};
pub use rest::{CollectionCount, CollectionGroup, CollectionTotals, HasteCounts};
