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
#[cfg(any(test, feature = "fixture"))]
mod inspection;
mod lane;
mod lane_event;
mod lane_state;
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
mod worker_requests;

pub use canary::{CanaryReport, CodeReport};
pub use dispatcher::Dispatcher;
pub use exchange::PendingReply;
pub use frame_socket::{FrameSocket, FrameTransport};
#[cfg(any(test, feature = "fixture"))]
pub use inspection::{DispatcherView, LaneView};
pub use lane::Lane;
pub use lane_event::{LaneEvent, LaneEvents};
pub use traffic::carry;
pub use worker_requests::WorkerRequests;
