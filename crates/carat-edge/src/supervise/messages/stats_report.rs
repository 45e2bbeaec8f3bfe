use carat_supervisor::Role;

use carat_machine::Container;

/// A process and its stats.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ProcessStats {
    pub(crate) role: Role,
    /// The name of a further process of the application.
    pub(crate) name: Option<String>,
    /// The number of a worker, or of a further process among the processes of its name.
    pub(crate) number: Option<u32>,
    /// `None` for the edge.
    pub(crate) generation: Option<u32>,
    pub(crate) pid: u32,
    /// How many requests a worker was given.
    pub(crate) requests: Option<u64>,
    /// The stats as a JSON object; `None` if the process did not reply in time.
    pub(crate) json: Option<String>,
}

/// The memory that all processes together may use, when it was last read.
#[derive(Clone)]
pub(crate) struct MemoryAllowance {
    pub(crate) limit: u64,
    pub(crate) used: u64,
    pub(crate) container: Container,
    /// The machine's memory.
    pub(crate) machine: Option<u64>,
}

/// The reply to a stats query.
#[derive(Clone)]
pub(crate) struct StatsReport {
    pub(crate) processes: Vec<ProcessStats>,
    /// `None` before the first memory reading.
    pub(crate) allowance: Option<MemoryAllowance>,
}
