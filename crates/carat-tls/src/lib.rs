//! TLS as a transport and a part of the edge: handshakes, certificates and their authority, and
//! streams. While a client is idle, a stream keeps only its session, and no buffers.

mod acme;
mod certificate;
mod certificate_source;
mod certificate_store;
mod clients;
mod config;
mod file_state;
mod handshake;
mod handshake_error;
mod on_demand;
mod parameters;
mod part;
mod renewal;
mod session;
mod stream;
mod transport;

pub use part::part;
pub use transport::TlsTransport;
