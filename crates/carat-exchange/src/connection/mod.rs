//! What one connection is doing, or one stream of HTTP/2.

mod body_progress;
mod client_bytes;
mod connection_end;
mod connection_state;
mod message_turn;
mod write_gate;

pub use body_progress::BodyProgress;
pub use client_bytes::ClientBytes;
pub use connection_end::ConnectionEnd;
pub use connection_state::{ConnectionPhase, ConnectionState, ReadProgress};
pub use message_turn::MessageTurn;
pub use write_gate::WriteGate;
