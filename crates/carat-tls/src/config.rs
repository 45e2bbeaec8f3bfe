use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring::Ticketer;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};

use super::acme::ACME_TLS;
use super::certificate_source::CertificateSource;
use super::certificate_store::CertificateStore;
use super::clients::ClientAuthority;
use super::session::invalid_names;

/// The name of HTTP/1.1, which a client may choose on every listener (RFC 7301).
const HTTP1: &[u8] = b"http/1.1";

/// The TLS settings that the connections of a listener share: certificates, protocols, and keys of session tickets.
#[derive(Clone)]
pub(crate) struct TlsConfig {
    pub(super) rustls: Arc<ServerConfig>,
    /// The certificates, by the name that a client asks for.
    pub(crate) certificates: Arc<CertificateStore>,
    /// The protocols that clients may choose instead of HTTP/1.1.
    pub(super) protocols: &'static [&'static str],
    /// Whether clients are asked for a certificate.
    pub(super) asks_clients: bool,
}

impl TlsConfig {
    /// Reads the certificates. A client gets the first of `protocols`, such as `h2`, that it
    /// offers, or else HTTP/1.1. The error is one sentence.
    pub(crate) fn new(
        source: CertificateSource,
        clients: Option<&ClientAuthority>,
        protocols: &'static [&'static str],
    ) -> Result<TlsConfig, String> {
        let provider = Arc::new(invalid_names::provider());
        let certificates = CertificateStore::read(source, Arc::clone(&provider))?;
        let verifier = clients.map(|clients| clients.verifier(&provider));
        let verifier = verifier.transpose()?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_client_cert_verifier(
                verifier.unwrap_or_else(WebPkiClientVerifier::no_client_auth),
            )
            .with_cert_resolver(Arc::clone(&certificates) as Arc<_>);
        let acme = certificates.is_issued().then_some(ACME_TLS);
        let offered = protocols.iter().map(|name| name.as_bytes());
        let offered = offered.chain([HTTP1]).chain(acme);
        config.alpn_protocols = offered.map(<[u8]>::to_vec).collect();
        // With tickets, the client keeps its session; with a cache, the server would.
        config.ticketer = Ticketer::new().map_err(|error| error.to_string())?;
        // Each ticket costs a twentieth of a handshake, and a client gets another one with each
        // connection.
        config.send_tls13_tickets = 1;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        Ok(TlsConfig {
            rustls: Arc::new(config),
            certificates,
            protocols,
            asks_clients: clients.is_some(),
        })
    }
}
