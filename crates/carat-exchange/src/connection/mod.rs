//! The state of one connection, or of one stream of a connection that has several.

mod body_progress;
mod client_bytes;
mod close_state;
mod connection_state;
mod message_order;
mod write_gate;

pub use body_progress::BodyProgress;
pub use client_bytes::ClientBytes;
pub use close_state::CloseState;
pub use connection_state::{ConnectionPhase, ConnectionState, ReadProgress};
pub use message_order::MessageOrder;
pub use write_gate::WriteGate;
