//! The cable: `WebSockets` of Action Cable that belong to the edge. Their commands are requests to the application.

mod cable_history;
mod cable_sessions;
mod handshake;
mod message_deadline;
mod outside;
mod parting;
mod pulse;
mod server;
mod socket;

pub use server::{Cable, CableStats};
pub use socket::CableSocket;
