//! From a received request to the application's reply: one queue, and lanes to the workers.

mod code_renewal;
mod dispatcher;
#[cfg(any(test, feature = "fixture"))]
mod fixture;
mod frames;
mod lane_choice;
mod lanes;
mod queue;
mod rebalance;
mod tunnel_drain;

pub use code_renewal::{CodeCheck, CodeRenewal};
pub use dispatcher::Dispatcher;
#[cfg(any(test, feature = "fixture"))]
pub use dispatcher::inspection::{DispatcherView, LaneView};
pub use dispatcher::traffic::carry;
#[cfg(any(test, feature = "fixture"))]
pub use fixture::{Fixture, locally};
pub use frames::{FailurePage, FrameSocket, FrameTransport};
pub use lane_choice::LaneChoice;
pub use lanes::{Lane, LaneEvent, LaneEvents, PendingReply, RunningRequest, WorkerRequests};
pub use queue::{Hold, MAIN_POOL, PathPattern, PoolQueues, PoolReport, RequestTimeouts};
pub use tunnel_drain::TunnelDrain;
