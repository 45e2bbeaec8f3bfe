use std::time::Duration;

use carat_policy::WorkerCount;
use serde_json::Value;

/// A request of a client of the control socket to the running server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ControlRequest {
    /// Report the state of the server.
    Status {
        /// Whether to ask the Ruby processes for their figures, which the next report contains.
        asks_ruby: bool,
    },
    /// Report the same as `Status`, and the running requests.
    Overview,
    Stop,
    /// Run this many workers from now on.
    Scale(WorkerCount),
    /// Set the bounds of the number of further processes with this name.
    ScaleApp {
        name: String,
        bounds: (u32, u32),
    },
    /// End the processes of this name, or the one with this number. Others take their places.
    KillApp {
        name: String,
        number: Option<u32>,
    },
    /// Hold requests in the queue for this long.
    Pause(Duration),
    Resume,
    /// Kill the worker with this number.
    KillWorker(u32),
    /// End the profile of the worker with this number.
    EndProfile(u32),
    /// Replace the running code by the code on disk.
    Restart,
    /// Hand over to a new edge.
    Upgrade,
    /// Go back to the code before the last restart.
    Rollback,
    /// Report how far the restart with this number is.
    RestartReport(u32),
}

/// The outcome of a request: a JSON object, or one sentence about why nothing was done.
pub(crate) type ControlReply = Result<Value, String>;
