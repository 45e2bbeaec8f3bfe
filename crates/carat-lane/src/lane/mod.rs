//! What a lane has received and has yet to send, and who waits for it.

mod body_receiver;
mod fairness;
mod flush_policy;
mod in_flight;
mod response_stream;
mod session;
mod waiters;

pub use body_receiver::{BodyReceiver, BodyStatus};
pub use session::{Descriptors, LaneSession, Progress, TakenRequest};
pub use waiters::{WaitFor, Waiters};
