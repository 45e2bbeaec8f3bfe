//! The decisions of Carat's edge as plain functions of numbers and times. Nothing here knows a process, a socket or a
//! clock: the caller passes the time in, and every rule is tested with plain values.
//!
//! ```
//! use carat_policy::{Demand, Elastic};
//! use std::time::Duration;
//!
//! let elastic = Elastic { min: 1, max: 8, queue_time_target: Duration::from_millis(5), follows_processors: false };
//! let demand = Demand { queue_time: Duration::from_millis(20), waiting: 60, slots: 3, booting: 0 };
//! assert_eq!(elastic.grown(2, &demand), 4);
//! ```

#![forbid(unsafe_code)]

mod backoff;
mod byte_size;
mod canary_rule;
mod client_memory;
mod counted;
mod descriptor_budget;
mod edge_memory;
mod elastic;
mod even_share;
mod latency_histogram;
mod memory_budget;
mod memory_pace;
mod memory_relief;
mod memory_trend;
mod oom_kills;
mod recycle;
mod refork;
mod replacement_backoff;

pub use backoff::Backoff;
pub use byte_size::ByteSize;
pub use canary_rule::{CanaryRule, CanaryUnit};
pub use client_memory::client_memory;
pub use counted::Counted;
pub use descriptor_budget::DescriptorBudget;
pub use edge_memory::{EdgeMemory, EdgeReserve};
pub use elastic::{Demand, Elastic, WorkerCount};
pub use even_share::EvenShare;
pub use latency_histogram::LatencyHistogram;
pub use memory_budget::{ContainerMemory, MemoryBudget, MemoryLimit, WorkerLoad, worker_cost};
pub use memory_pace::{MemoryApproach, reading_pause};
pub use memory_relief::{HolderStage, MemoryDemand, MemoryHolder, relief};
pub use memory_trend::MemoryTrend;
pub use oom_kills::OomKills;
pub use recycle::{ReplacementReason, Retirements, WearLimits};
pub use refork::{ReforkRule, Reforks, WorkerUsage};
pub use replacement_backoff::{ReplacementAdvice, ReplacementBackoff};
