use std::path::Path;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

/// Reads a certificate, with its chain, and its key from PEM files. The error is one sentence.
pub(super) fn read_certificate(
    cert: &Path,
    key: &Path,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, String> {
    let chain = read_chain(cert)?;
    let key_der = PrivateKeyDer::from_pem_file(key).map_err(|error| match error {
        PemError::NoItemsFound => format!("{} has no private key in PEM form", key.display()),
        error => unreadable(key, &error),
    })?;
    CertifiedKey::from_der(chain, key_der, provider).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => format!(
            "the key in {} does not belong to the certificate in {}",
            key.display(),
            cert.display()
        ),
        error => format!(
            "{} with {} cannot be used: {error}",
            cert.display(),
            key.display()
        ),
    })
}

/// Reads the certificates of a PEM file, at least one. The error is one sentence.
pub(super) fn read_chain(cert: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let chain = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unreadable(cert, &error))?;
    if chain.is_empty() {
        return Err(format!("{} has no certificate in PEM form", cert.display()));
    }
    Ok(chain)
}

fn unreadable(path: &Path, error: &PemError) -> String {
    match error {
        PemError::Io(error) => format!("cannot read {}: {error}", path.display()),
        error => format!("{} is not valid PEM: {error}", path.display()),
    }
}
