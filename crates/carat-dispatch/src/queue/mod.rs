//! The requests that wait for a lane, and for how long they may.

mod controlled_delay;
mod hold;
mod pauses;
mod queue_time;
mod request_timeouts;
mod waiting_queue;

pub use hold::Hold;
pub use request_timeouts::RequestTimeouts;
pub use waiting_queue::WaitingQueue;
