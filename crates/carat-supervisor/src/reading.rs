//! The figures that are measured of the processes, and reported by them, as plain data.

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
    /// How many requests it was given.
    pub requests: u64,
    /// How long it has had no request.
    pub idle: Duration,
    /// How many connections its application has taken over.
    pub tunnels: usize,
    /// Whether the edge may tell it when to collect its garbage.
    pub collects: bool,
}

/// A further process of the application, at one time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AppReading {
    /// The process.
    pub id: AppProcessId,
    /// The private memory of the process, with that of its descendants.
    pub private: u64,
    /// How much more it would take if it shared no memory, with its descendants.
    pub saved: u64,
    /// How many processes it has forked that run.
    pub descendants: u32,
}

/// The memory of one process, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ProcessMemory {
    /// `edge`, `mold`, `worker`, or `app`: a further process of the application, with its descendants.
    pub kind: &'static str,
    /// The process id.
    pub pid: u32,
    /// Resident, with each shared page divided by the number of processes that share it.
    pub pss: u64,
    /// Resident in no other process.
    pub private: u64,
    /// Resident in other processes as well.
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
    /// Memory of all Ruby processes together that no file backs, each shared page counted once, swapped out or not.
    pub ruby: u64,
    /// Generation and anonymous memory of the mold, shared with workers or not.
    pub mold: Option<(u32, u64)>,
    /// The most memory that the mold ever had which no file backs, in bytes; `None` where the kernel does not say.
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
    /// The lane that runs it.
    pub tag: LaneTag,
    /// The number of the request on its lane.
    pub request: u32,
    /// The operation for which the request waits.
    pub waits_for: String,
    /// The calls, a line for each; empty when nobody knows.
    pub stack: String,
}
