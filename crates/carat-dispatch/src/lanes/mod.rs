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
