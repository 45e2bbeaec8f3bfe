//! The time limits of clients, and the connections that are watched for them.

mod active_connections;
mod allocator_use;
mod deadlines;
mod phase_timeouts;
mod slow_reader;

pub(crate) use active_connections::Lenders;
pub use active_connections::{ActiveConnections, ActiveGuard};
pub use deadlines::{Deadline, Deadlines, TICK};
pub(crate) use phase_timeouts::PARK_AFTER;
pub use phase_timeouts::{ActiveEnd, PhaseTimeouts};
pub(crate) use slow_reader::SlowReader;
