use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::crypto::CryptoProvider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use webpki::EndEntityCert;

use super::certificate::read_certificate;
use super::certificate_source::{CertificateSource, FileState, TlsFiles};

/// The certificates of a listener, by the names for which they are. Files that change replace them; connections keep the
/// certificate that they began with.
#[derive(Debug)]
pub struct CertificateStore {
    source: CertificateSource,
    provider: Arc<CryptoProvider>,
    table: RwLock<CertificateTable>,
}

#[derive(Debug, Default)]
struct CertificateTable {
    /// Names in lower case; a wildcard has its `*`.
    names: HashMap<String, Arc<CertifiedKey>>,
    /// For clients that name no known server.
    default: Option<Arc<CertifiedKey>>,
    /// The files from which this was read.
    files: Vec<FileState>,
}

/// What became of the certificates.
#[derive(Debug, PartialEq, Eq)]
pub enum Renewal {
    Unchanged,
    Renewed,
    /// Nothing is replaced; the reason is one sentence.
    Failed(String),
}

impl CertificateStore {
    /// Reads the certificates. The error is one sentence.
    pub(super) fn read(
        source: CertificateSource,
        provider: Arc<CryptoProvider>,
    ) -> Result<Arc<CertificateStore>, String> {
        let (table, failure) = CertificateTable::read(&source, &provider);
        failure.map_or(Ok(()), Err)?;
        Ok(Arc::new(CertificateStore {
            source,
            provider,
            table: RwLock::new(table),
        }))
    }

    /// Reads the files again if they have changed. Blocks.
    pub fn renew(&self) -> Renewal {
        if self.states()
            == self
                .table
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .files
        {
            return Renewal::Unchanged;
        }
        let (table, failure) = CertificateTable::read(&self.source, &self.provider);
        let mut current = self.table.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(reason) = failure {
            // Said once for each state of the files.
            current.files = table.files;
            return Renewal::Failed(reason);
        }
        *current = table;
        Renewal::Renewed
    }

    fn states(&self) -> Vec<FileState> {
        let files = self.source.files().unwrap_or_default();
        files.iter().flat_map(TlsFiles::states).collect()
    }
}

impl CertificateTable {
    /// The certificates of the source, and why they are not complete. The state of the files is always what was there
    /// before they were read.
    fn read(
        source: &CertificateSource,
        provider: &CryptoProvider,
    ) -> (CertificateTable, Option<String>) {
        let mut table = CertificateTable::default();
        let files = match source.files() {
            Ok(files) => files,
            Err(reason) => return (table, Some(reason)),
        };
        table.files = files.iter().flat_map(TlsFiles::states).collect();
        for files in files {
            match read_certificate(&files.cert, &files.key, provider) {
                Ok(certificate) => table.add(Arc::new(certificate)),
                Err(reason) => return (table, Some(reason)),
            }
        }
        (table, None)
    }

    /// Adds a certificate. The first one for a name counts.
    fn add(&mut self, certificate: Arc<CertifiedKey>) {
        let end_entity = certificate.end_entity_cert().ok();
        if let Some(parsed) = end_entity.and_then(|der| EndEntityCert::try_from(der).ok()) {
            for name in parsed.valid_dns_names() {
                let name = name.to_ascii_lowercase();
                self.names
                    .entry(name)
                    .or_insert_with(|| Arc::clone(&certificate));
            }
        }
        self.default.get_or_insert(certificate);
    }

    fn find(&self, name: &str) -> Option<&Arc<CertifiedKey>> {
        self.names.get(name).or_else(|| {
            let (_, domain) = name.split_once('.')?;
            self.names.get(&format!("*.{domain}"))
        })
    }
}

impl ResolvesServerCert for CertificateStore {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let named = hello
            .server_name()
            .and_then(|name| table.find(&name.to_ascii_lowercase()));
        named.or(table.default.as_ref()).cloned()
    }
}
