//! What the processes weigh, what they may, and what is done about it.

mod budget;
mod cgroup;
mod container;
mod machine;
mod oom_kills;
mod pace;
#[cfg(test)]
mod recording;
mod remedy;
mod rollup;
mod sampler;
mod scales;
mod size;
mod trend;
mod weight;

pub(crate) use budget::Load;
pub(crate) use container::Container;
pub(crate) use remedy::Advice;
pub(crate) use rollup::Rollup;
pub(crate) use sampler::{Sample, Subject, Subjects};
pub(crate) use scales::Scales;
pub(crate) use size::Size;
pub(crate) use trend::Trend;
pub(crate) use weight::Weight;
