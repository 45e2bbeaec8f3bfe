//! The cable: `WebSockets` of Action Cable that belong to the edge. Their commands are requests to the application.

mod arrival;
mod cable_history;
mod cable_sessions;
mod client_record;
mod departure;
mod handover;
mod handshake;
mod outside;
mod parting;
mod pulse;
mod server;
mod socket;

pub(crate) use arrival::ArrivedSocket;
pub use server::{Cable, CableStats};
pub use socket::CableSocket;
