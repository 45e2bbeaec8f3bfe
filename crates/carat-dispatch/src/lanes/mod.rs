//! One lane, what it holds, and which of them are idle.

mod exchange;
mod idle_lanes;
mod in_flight;
mod lane;
mod lane_event;
mod lane_state;
mod pace;
mod shared_page;
mod stall;
mod usage;
mod worker_requests;

pub use exchange::PendingReply;
pub(crate) use exchange::{Exchange, LoggedRequest};
pub(crate) use idle_lanes::IdleLanes;
pub(crate) use in_flight::{InFlightRequest, RequestStage};
pub use lane::Lane;
pub use lane_event::{LaneEvent, LaneEvents};
pub(crate) use lane_state::LaneState;
pub(crate) use pace::PREFETCH_WAIT;
pub use worker_requests::WorkerRequests;
