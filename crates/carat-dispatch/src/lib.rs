//! From a received request to the application's reply: one queue, and lanes to the workers.

mod code_renewal;
mod dispatcher;
mod figures;
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
pub use figures::RequestFigures;
#[cfg(any(test, feature = "fixture"))]
pub use fixture::{Fixture, locally};
pub use frames::{FailurePage, FrameSocket, FrameTransport};
pub use lanes::{Lane, LaneEvent, LaneEvents, PendingReply, RunningRequest, WorkerRequests};
pub use queue::{MAIN_POOL, PathPattern, PoolReport};
