//! TLS: certificates, and a stream that keeps nothing but its session while the client is idle.

mod certificate;
mod certificate_source;
mod certificate_store;
mod client_authority;
mod client_certificate;
mod config;
mod handshake_error;
mod session;
mod session_tickets;
mod stream;
mod watch;

pub use certificate_source::{CertificateSource, TlsFiles};
pub use certificate_store::CertificateStore;
pub use client_authority::ClientAuthority;
pub use client_certificate::ClientVariable;
pub use config::TlsConfig;
pub use handshake_error::HandshakeError;
pub use session_tickets::TicketKeys;
pub use stream::TlsStream;
pub use watch::watch_certificates;

/// The first bytes of a client that speaks TLS: a record of the handshake, of any version.
pub const HELLO: [u8; 2] = [0x16, 0x03];
