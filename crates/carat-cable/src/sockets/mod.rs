//! The sockets of all clients: what waits for each of them, what each has subscribed to, and who receives which stream.

mod hub;
mod outbox;
mod session;

pub use hub::{Hub, Reached, SocketNumber};
pub use outbox::{OUTBOX_LIMIT, Outbox};
pub use session::{SESSION_LIMIT, Session};
