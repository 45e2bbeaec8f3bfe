use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use rustls::crypto::CryptoProvider;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::server::ClientHello;
use rustls::sign::CertifiedKey;

use super::names::AcmeNames;
use super::status::CertificateStatus;
use crate::certificate::read_chain;
use crate::file_state::{FileState, state_of};
use carat_files::read_configured;

/// The protocol by which an authority validates a name (RFC 8737). No data follows the handshake.
pub(crate) const ACME_TLS: &[u8] = b"acme-tls/1";
/// The most bytes of a file in a certificate's folder, other than the certificate.
const FILE_LIMIT: u64 = 16 * 1024;

/// The files that the client of the authority writes for the server beside the certificates: the
/// answers to the authority, and the status of each name.
#[derive(Debug)]
pub(crate) struct AcmeFolder {
    names: AcmeNames,
    looks: AtomicU64,
    found: RwLock<FolderContent>,
}

#[derive(Debug, Default)]
struct FolderContent {
    /// The number of the look that has found this. A look that waits for a disk may end after a
    /// later one.
    number: u64,
    names: Vec<String>,
    files: Vec<FileState>,
    /// The certificates that answer the authority (RFC 8737), by the name that they prove.
    validations: HashMap<String, Arc<CertifiedKey>>,
    /// The responses to the authority over HTTP (RFC 8555, section 8.3), by token.
    responses: HashMap<String, String>,
    statuses: Vec<CertificateStatus>,
}

impl AcmeFolder {
    pub(crate) fn new(names: AcmeNames) -> AcmeFolder {
        let unknown = |name: String| CertificateStatus {
            on_demand: !names.names.contains(&name),
            name,
            ..CertificateStatus::default()
        };
        let found = FolderContent {
            statuses: names.all().into_iter().map(unknown).collect(),
            ..FolderContent::default()
        };
        AcmeFolder {
            names,
            looks: AtomicU64::new(0),
            found: RwLock::new(found),
        }
    }

    /// Reads the files if they have changed. A file that cannot be read counts as missing. The call
    /// blocks.
    pub(crate) fn look(&self, provider: &CryptoProvider) {
        let number = self.looks.fetch_add(1, Ordering::Relaxed) + 1;
        let names = self.names.all();
        let files = self.states(&names);
        let is_known = |found: &FolderContent| found.files == files && found.names == names;
        if is_known(&self.content()) {
            return;
        }
        let mut content = FolderContent {
            number,
            files,
            ..FolderContent::default()
        };
        for name in &names {
            let folder = self.names.folder.join(name);
            if let Some(key) = read_validation(&folder.join("validation.pem"), provider) {
                content.validations.insert(name.clone(), Arc::new(key));
            }
            if let Some((token, response)) = read_response(&folder.join("response")) {
                content.responses.insert(token, response);
            }
            let mut status = read_status(&folder.join("status.json")).unwrap_or_default();
            status.name.clone_from(name);
            status.on_demand = !self.names.names.contains(name);
            content.statuses.push(status);
        }
        content.names = names;
        let mut found = self.found.write().unwrap_or_else(PoisonError::into_inner);
        if number > found.number {
            *found = content;
        }
    }

    fn content(&self) -> RwLockReadGuard<'_, FolderContent> {
        self.found.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn states(&self, names: &[String]) -> Vec<FileState> {
        let folders = names.iter().map(|name| self.names.folder.join(name));
        folders
            .flat_map(|folder| {
                ["validation.pem", "response", "status.json"].map(|name| folder.join(name))
            })
            .map(|path| state_of(&path))
            .collect()
    }

    /// The certificate that proves to the authority who serves a name.
    pub(crate) fn validation(&self, name: &str) -> Option<Arc<CertifiedKey>> {
        self.content().validations.get(name).cloned()
    }

    /// The response to the authority that asks for this token.
    pub(crate) fn response(&self, token: &str) -> Option<String> {
        self.content().responses.get(token).cloned()
    }

    /// The status of the certificate of each name.
    pub(crate) fn statuses(&self) -> Vec<CertificateStatus> {
        self.content().statuses.clone()
    }
}

/// Whether the client is an authority that validates a name: it offers the protocol for that, and
/// no other (RFC 8737, section 3).
pub(crate) fn is_validation(hello: &ClientHello<'_>) -> bool {
    let mut protocols = hello.alpn().into_iter().flatten();
    protocols.next() == Some(ACME_TLS) && protocols.next().is_none()
}

/// Reads a validation certificate. Its extension is critical, and known to the authority alone, so it is not checked.
fn read_validation(path: &Path, provider: &CryptoProvider) -> Option<CertifiedKey> {
    let pem = read_configured(path, FILE_LIMIT).ok()?;
    let key = PrivateKeyDer::from_pem_slice(&pem).ok()?;
    let key = provider.key_provider.load_private_key(key).ok()?;
    Some(CertifiedKey::new(read_chain(path).ok()?, key))
}

/// Reads `TOKEN.THUMBPRINT`. Returns the token and the whole text.
fn read_response(path: &Path) -> Option<(String, String)> {
    let response = String::from_utf8(read_configured(path, FILE_LIMIT).ok()?).ok()?;
    let (token, _) = response.split_once('.')?;
    Some((token.to_owned(), response))
}

fn read_status(path: &Path) -> Option<CertificateStatus> {
    serde_json::from_slice(&read_configured(path, FILE_LIMIT).ok()?).ok()
}
