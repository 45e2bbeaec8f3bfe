//! The sockets of all clients: what waits for each of them, what each has subscribed to, and who receives which stream.

mod cable_session;
mod client_outbox;
mod hub;
mod signed_streams;

pub use cable_session::{CableSession, SESSION_LIMIT};
pub use client_outbox::{ClientOutbox, OUTBOX_LIMIT, SocketEnd};
pub use hub::{Hub, Reached, SocketNumber};
