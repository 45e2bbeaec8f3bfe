//! The memory of processes, containers, and the machine, as the kernel reports it.

mod cgroup;
mod container;
mod group;
mod machine;
mod machine_limits;
mod reader;
#[cfg(test)]
mod recording;
mod rollup;

pub use container::Container;
pub use group::group_members;
pub use machine::Machine;
pub use machine_limits::MachineLimits;
pub use reader::read_memory;
pub use rollup::Rollup;
