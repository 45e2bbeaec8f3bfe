//! The time limits of clients, and the connections that are watched for them.

mod active_connections;
mod allocator_use;
mod deadlines;
mod phase_timeouts;
mod slow_reader;

pub(crate) use active_connections::{ActiveConnections, ActiveGuard};
pub use deadlines::TICK;
pub(crate) use deadlines::{Deadline, Deadlines};
pub(crate) use phase_timeouts::{ActiveEnd, PARK_AFTER, PhaseTimeouts};
pub(crate) use slow_reader::SlowReader;
