//! From a received request to the application's reply: one queue, and lanes to the workers.

mod canary;
mod dispatcher;
mod draining_tunnels;
#[cfg(test)]
mod fixture;
mod frames;
mod hold;
mod lanes;
mod pauses;
mod queue_time;
mod reload;

pub use canary::{CanaryReport, CodeReport};
pub use dispatcher::Dispatcher;
#[cfg(any(test, feature = "fixture"))]
pub use dispatcher::inspection::{DispatcherView, LaneView};
pub use dispatcher::traffic::carry;
pub use frames::{FrameSocket, FrameTransport};
pub use lanes::{Lane, LaneEvent, LaneEvents, PendingReply, WorkerRequests};
