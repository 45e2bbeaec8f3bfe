//! A connection, from accept to close.

mod connection;
mod file_write;
mod guarded;
mod proxy_header;
mod server_core;

pub(crate) use connection::serve_connection;
