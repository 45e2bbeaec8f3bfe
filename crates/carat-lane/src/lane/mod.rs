//! The bytes that a lane has received and has yet to send, and the slots that wait for them.

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
