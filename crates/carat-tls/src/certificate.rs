use std::path::Path;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

use carat_files::read_configured;

/// The longest PEM file: all authorities that Debian trusts take 220 KB.
const PEM_LIMIT: u64 = 4 * 1024 * 1024;

/// Reads a certificate, with its chain, and its key from PEM files. The error is one sentence.
pub(super) fn read_certificate(
    cert: &Path,
    key: &Path,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, String> {
    let chain = read_chain(cert)?;
    let key_pem = read_pem(key)?;
    let key_der = PrivateKeyDer::from_pem_slice(&key_pem).map_err(|error| match error {
        _ if is_encrypted(&key_pem) => format!(
            "{0} is encrypted: openssl pkey -in {0} -out NEW writes the key without its passphrase",
            key.display()
        ),
        PemError::NoItemsFound => format!("{} has no private key in PEM form", key.display()),
        error => invalid(key, &error),
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

/// Whether a key needs a passphrase: `BEGIN ENCRYPTED PRIVATE KEY`, or `Proc-Type: 4,ENCRYPTED` (RFC 1421).
fn is_encrypted(pem: &[u8]) -> bool {
    let mark = b"ENCRYPTED";
    pem.windows(mark.len()).any(|bytes| bytes == mark)
}

/// Reads the certificates of a PEM file, at least one. The error is one sentence.
pub(super) fn read_chain(cert: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let chain = CertificateDer::pem_slice_iter(&read_pem(cert)?)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| invalid(cert, &error))?;
    if chain.is_empty() {
        return Err(format!("{} has no certificate in PEM form", cert.display()));
    }
    Ok(chain)
}

fn read_pem(path: &Path) -> Result<Vec<u8>, String> {
    let read = read_configured(path, PEM_LIMIT);
    read.map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn invalid(path: &Path, error: &PemError) -> String {
    format!("{} is not valid PEM: {error}", path.display())
}
