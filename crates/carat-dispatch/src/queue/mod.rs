//! The requests that wait for a lane, and for how long they may.

mod controlled_delay;
mod hold;
mod path_pattern;
mod pauses;
mod pool_queues;
mod queue_time;
mod request_timeouts;
mod waiting_queue;

pub(crate) use hold::Hold;
pub use path_pattern::PathPattern;
pub(crate) use pool_queues::PoolQueues;
pub use pool_queues::{MAIN_POOL, PoolReport};
pub(crate) use request_timeouts::RequestTimeouts;
