//! HTTP/2 (RFC 9113), over TLS, and without TLS with prior knowledge. The `h2` crate speaks the
//! protocol. This folder bounds what a client can make it do, and passes each request along the
//! path that HTTP/1.1 takes.

mod client;
mod connection;
mod date_field;
mod end;
mod frames;
mod http2;
mod protocol;
mod requests;
mod respond;
mod response_files;
mod stream;
mod timer;
mod tunnels;
mod unsent_bytes;

pub use protocol::{offered_protocols, part};
