//! The handshakes of all clients: their timeout, their number, and the thread that computes them.

mod handshake_thread;
mod handshakes;
mod tls_handshake;

pub(crate) use handshakes::Handshakes;
pub(crate) use tls_handshake::TlsHandshake;
