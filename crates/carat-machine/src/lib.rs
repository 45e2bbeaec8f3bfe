//! What the kernel says about the memory of processes, containers and the machine.

mod cgroup;
mod container;
mod group;
mod machine;
mod machine_limits;
mod reader;
#[cfg(test)]
mod recording;
mod rollup;

pub(crate) use container::Container;
pub(crate) use group::group_members;
pub(crate) use machine::Machine;
pub(crate) use machine_limits::MachineLimits;
pub(crate) use reader::read_memory;
pub(crate) use rollup::Rollup;
