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

pub(crate) use certificate_source::{CertificateSource, TlsFiles};
pub(crate) use certificate_store::CertificateStore;
pub(crate) use client_authority::ClientAuthority;
pub(crate) use client_certificate::ClientVariable;
pub(crate) use config::TlsConfig;
pub(crate) use handshake_error::HandshakeError;
pub(crate) use session_tickets::TicketKeys;
pub(crate) use stream::TlsStream;
pub(crate) use watch::watch_certificates;

/// The first bytes of a client that speaks TLS: a record of the handshake, of any version.
pub(crate) const HELLO: [u8; 2] = [0x16, 0x03];
