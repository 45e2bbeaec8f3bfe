use std::path::PathBuf;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;

use crate::certificate::read_chain;

/// The authority that signs the certificates of clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientAuthority {
    /// A PEM file with one certificate or more.
    pub(crate) file: PathBuf,
    /// Whether a client without a certificate is refused.
    pub(crate) is_required: bool,
}

impl ClientAuthority {
    /// Reads the file. The error is one sentence.
    pub(crate) fn verifier(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Arc<dyn ClientCertVerifier>, String> {
        let refused = |error: String| format!("{} cannot be used: {error}", self.file.display());
        let mut roots = RootCertStore::empty();
        for certificate in read_chain(&self.file)? {
            let added = roots.add(certificate);
            added.map_err(|error| refused(error.to_string()))?;
        }
        let provider = Arc::clone(provider);
        let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        let builder = if self.is_required {
            builder
        } else {
            builder.allow_unauthenticated()
        };
        builder.build().map_err(|error| refused(error.to_string()))
    }
}
