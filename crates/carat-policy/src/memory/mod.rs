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
