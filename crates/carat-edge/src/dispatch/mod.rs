//! From a received request to the application's reply: one queue, and lanes to the workers.

mod canary;
mod decode;
mod dispatcher;
mod draining_tunnels;
mod early_hints;
mod encode;
mod exchange;
mod failover;
mod failure_page;
#[cfg(test)]
mod fixture;
mod frame_socket;
mod hold;
mod holding;
mod idle_lanes;
mod in_flight;
#[cfg(test)]
mod inspection;
mod lane;
mod lane_event;
mod lane_state;
mod lane_tag;
mod pace;
mod pauses;
mod queue_time;
mod rebalance;
mod reload;
mod reloading;
mod shared_page;
mod splitting;
mod stall;
mod timeouts;
mod traffic;
mod trial;
mod tunnels;
mod usage;
mod worker_id;
mod worker_requests;

pub(crate) use canary::{CanaryReport, CodeReport};
pub(crate) use dispatcher::Dispatcher;
pub(crate) use exchange::PendingReply;
pub(crate) use frame_socket::{FrameSocket, FrameTransport};
#[cfg(test)]
pub(crate) use inspection::{DispatcherView, LaneView};
pub(crate) use lane::Lane;
pub(crate) use lane_event::{LaneEvent, LaneEvents};
pub(crate) use lane_tag::LaneTag;
pub(crate) use traffic::carry;
pub(crate) use worker_id::WorkerId;
pub(crate) use worker_requests::WorkerRequests;
