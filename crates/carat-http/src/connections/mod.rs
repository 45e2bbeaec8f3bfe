//! One connection, from accept to close.

mod connection;
mod file_write;
mod guarded;
mod handshake;
mod moved_sockets;
mod proxy_header;

pub(crate) use connection::serve_connection;
pub use moved_sockets::follow_cable;
