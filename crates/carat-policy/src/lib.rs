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

mod byte_size;
mod counted;
mod descriptor_budget;

mod memory {
    //! How much memory there is, and who gives way when it runs out.

    mod client_memory;
    mod edge_memory;
    mod memory_budget;
    mod memory_relief;
    mod memory_trend;
    mod mold_room;
    mod oom_kills;
    mod reading_pause;
    mod worker_ceiling;

    pub use client_memory::client_memory;
    pub use edge_memory::{EdgeMemory, EdgeReserve};
    pub use memory_budget::{ContainerMemory, MemoryBudget, MemoryLimit, WorkerLoad, worker_cost};
    pub use memory_relief::{HolderStage, MemoryDemand, MemoryHolder, relief};
    pub use memory_trend::MemoryTrend;
    pub use mold_room::{MoldRoom, MoldRoomStep};
    pub use oom_kills::OomKills;
    pub use reading_pause::{MemoryApproach, reading_pause};
    pub use worker_ceiling::WorkerCeiling;
}

mod workers {
    //! How many workers run, which are replaced, and when the next attempt is made.

    mod backoff;
    mod elastic;
    mod load_rule;
    mod recycle;
    mod refork;
    mod replacement_backoff;
    mod rest;

    pub use backoff::Backoff;
    pub use elastic::{Demand, Elastic, WorkerCount};
    pub use load_rule::LoadRule;
    pub use recycle::{RecycleLimits, ReplacementReason, Retirements};
    pub use refork::{ReforkRule, Reforks, WorkerUsage};
    pub use replacement_backoff::{ReplacementAdvice, ReplacementBackoff};
    pub use rest::{
        CollectionNeed, RestBalance, RestStep, Rotation, ServingWorker, pause_after_rest,
    };
}

pub use byte_size::ByteSize;
pub use counted::Counted;
pub use descriptor_budget::DescriptorBudget;
pub use memory::MemoryTrend;
pub use memory::OomKills;
pub use memory::WorkerCeiling;
pub use memory::client_memory;
pub use memory::{ContainerMemory, MemoryBudget, MemoryLimit, WorkerLoad, worker_cost};
pub use memory::{EdgeMemory, EdgeReserve};
pub use memory::{HolderStage, MemoryDemand, MemoryHolder, relief};
pub use memory::{MemoryApproach, reading_pause};
pub use memory::{MoldRoom, MoldRoomStep};
pub use workers::Backoff;
pub use workers::LoadRule;
pub use workers::{
    CollectionNeed, RestBalance, RestStep, Rotation, ServingWorker, pause_after_rest,
};
pub use workers::{Demand, Elastic, WorkerCount};
pub use workers::{RecycleLimits, ReplacementReason, Retirements};
pub use workers::{ReforkRule, Reforks, WorkerUsage};
pub use workers::{ReplacementAdvice, ReplacementBackoff};
