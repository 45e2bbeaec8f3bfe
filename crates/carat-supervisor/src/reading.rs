//! The figures that are measured of the processes, or that they report, as plain data.

use std::time::{Duration, Instant};

use carat_policy::{ContainerMemory, EdgeMemory};
use serde::Serialize;

use super::command::MemorySubject;
use super::ruby_process::AppProcessId;
use carat_log::{LaneTag, WorkerId};

/// The state of the server at a tick.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tick {
    /// How long requests waited for a lane since the last tick.
    pub queue_time: Duration,
    /// How many requests are waiting.
    pub waiting: usize,
    /// Whether a client is connected.
    pub has_clients: bool,
    /// How many clients are connected.
    pub clients: usize,
}

/// The work of one worker.
#[derive(Clone, Copy)]
pub struct WorkerTraffic {
    /// The worker.
    pub worker: WorkerId,
    /// How many requests the worker was given.
    pub requests: u64,
    /// How long the worker has had no request.
    pub idle: Duration,
    /// How many tunnels the worker has.
    pub tunnels: usize,
    /// Whether the edge tells the worker when to collect its garbage. A worker may manage its garbage collector itself.
    pub collects: bool,
}

/// A further process of the application, at one time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AppReading {
    /// The process.
    pub id: AppProcessId,
    /// The private memory of the process, with that of its descendants.
    pub private: u64,
    /// How much more memory the process and its descendants would take if they shared none.
    pub saved: u64,
    /// How many descendants of the process run.
    pub descendants: u32,
}

/// The memory of one process, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ProcessMemory {
    /// `edge`, `mold`, `worker`, or `app`: a further process of the application, with its descendants.
    pub kind: &'static str,
    /// The process id.
    pub pid: u32,
    /// Resident memory, with each shared page divided by the number of processes that share it.
    pub pss: u64,
    /// Resident memory that no other process shares.
    pub private: u64,
    /// Resident memory that other processes share.
    pub shared: u64,
}

/// The memory of all processes at one time. Processes that ended, or cannot be read, are missing.
#[derive(Clone)]
pub struct MemoryReading {
    /// When it was read.
    pub at: Instant,
    /// How long the reading took.
    pub took: Duration,
    /// The edge itself.
    pub edge: EdgeMemory,
    /// The memory of all Ruby processes that no file backs (anonymous memory), swapped out or not. Each shared page
    /// counts once.
    pub ruby: u64,
    /// The generation of the mold, and its anonymous memory, whether it is shared with workers or not.
    pub mold: Option<(u32, u64)>,
    /// The peak of the mold's anonymous memory, in bytes; `None` if the kernel does not say.
    pub mold_peak: Option<u64>,
    /// Private memory of each worker.
    pub workers: Vec<(MemorySubject, u64)>,
    /// The further processes of the application.
    pub apps: Vec<AppReading>,
    /// Each process, for reports.
    pub processes: Vec<ProcessMemory>,
    /// The memory of the server's control group.
    pub container: ContainerMemory,
    /// How many processors the container has.
    pub processors: u32,
}

/// The place in the application's code where a request stands.
#[derive(Clone, PartialEq, Eq)]
pub struct StackReport {
    /// The lane that runs the request.
    pub tag: LaneTag,
    /// The number of the request on its lane.
    pub request: u32,
    /// The operation for which the request waits.
    pub waits_for: String,
    /// The call stack, one line for each call; empty if it is not known.
    pub stack: String,
}
