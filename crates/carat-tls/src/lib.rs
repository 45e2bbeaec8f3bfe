//! TLS: certificates, and a stream that keeps nothing but its session while the client is idle.

mod acme;
mod certificate;
mod certificate_source;
mod certificate_store;
mod client_authority;
mod client_certificate;
mod config;
mod file_state;
mod handshake_error;
mod renewal;
mod session;
mod stream;

pub use acme::{AcmeClient, AcmeNames, CertificateStatus};
pub use certificate_source::{CertificateSource, TlsFiles};
pub use certificate_store::CertificateStore;
pub use client_authority::ClientAuthority;
pub use client_certificate::ClientVariable;
pub use config::TlsConfig;
pub use handshake_error::HandshakeError;
pub use renewal::{issue_certificates, watch_certificates};
pub use stream::TlsStream;

/// The first bytes of a client that speaks TLS: a record of the handshake, of any version.
pub const HELLO: [u8; 2] = [0x16, 0x03];
