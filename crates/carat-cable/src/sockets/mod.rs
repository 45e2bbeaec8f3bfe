//! The sockets of all clients: what waits for each of them, what each has subscribed to, and who receives which stream.

mod broadcast_history;
mod cable_session;
mod client_outbox;
mod encoded_message;
mod hub;
mod kept_sessions;
mod signed_streams;
mod socket_limits;

pub use broadcast_history::{BroadcastHistory, STREAM_HISTORY_LIMIT};
pub use cable_session::{CableSession, KeptSession};
pub use client_outbox::{ClientOutbox, SocketEnd, SocketNumber};
pub use hub::{Hub, Reached};
pub use kept_sessions::{ClientIdentity, KeptSessions, SessionClaim};
pub use socket_limits::{
    KEPT_SESSIONS_LIMIT, MESSAGE_LIMIT, OUTBOX_LIMIT, SESSION_LIMIT, SocketLimits,
};
