use std::collections::{HashMap, HashSet};
use std::io;
use std::mem::{replace, take};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use rustls::crypto::CryptoProvider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use webpki::EndEntityCert;

use super::acme::{AcmeFolder, AcmeNames, CertificateStatus, is_validation};
use super::certificate::read_certificate;
use super::certificate_source::{CertificateSource, TlsFiles};
use super::file_state::FileState;
use carat_files::on_own_thread;
use carat_log::Log;

/// The certificates of a listener, by the names for which they are valid. Changed files replace
/// them, each pair of files on its own. Connections keep the certificate that they began with.
#[derive(Debug)]
pub(crate) struct CertificateStore {
    source: CertificateSource,
    provider: Arc<CryptoProvider>,
    pairs: Mutex<CertificatePairs>,
    table: RwLock<CertificateTable>,
    /// The folder of an authority's client; `None` for other certificates.
    acme: Option<AcmeFolder>,
}

/// The pairs of files, and what was read from them.
#[derive(Debug, Default)]
struct CertificatePairs {
    known: HashMap<TlsFiles, CertificatePair>,
    /// The pairs of files that there are now, in their order.
    listed: Vec<TlsFiles>,
    /// The path that is being read.
    at: PathBuf,
    /// The error about all pairs together that was reported last.
    failure: Option<String>,
    has_changed: bool,
}

#[derive(Debug, Default)]
struct CertificatePair {
    /// Whether a thread reads the pair. It may wait for a disk that does not respond.
    is_being_read: bool,
    /// The states of the files just before they were read.
    states: Option<[FileState; 2]>,
    certificate: Option<Arc<CertifiedKey>>,
}

#[derive(Debug, Default)]
struct CertificateTable {
    /// Names in lower case; a wildcard has its `*`.
    names: HashMap<String, Arc<CertifiedKey>>,
    /// The certificate for clients that name no known server.
    default: Option<Arc<CertifiedKey>>,
}

/// The outcome of reading the certificates anew.
#[derive(Default, PartialEq, Eq)]
pub(crate) struct Renewal {
    /// Whether any certificate was replaced.
    pub(crate) is_renewed: bool,
    /// Why others could not be replaced: one sentence each, and once for each state of the files.
    pub(crate) failures: Vec<String>,
}

impl CertificateStore {
    /// Reads the certificates. The error is one sentence.
    pub(super) fn read(
        source: CertificateSource,
        provider: Arc<CryptoProvider>,
    ) -> Result<Arc<CertificateStore>, String> {
        let acme = match &source {
            CertificateSource::Acme(names) => {
                if let Some(further) = &names.further {
                    further.find(&names.folder);
                }
                Some(AcmeFolder::new(names.clone()))
            }
            CertificateSource::Files(_) | CertificateSource::Folder(_) => None,
        };
        let store = CertificateStore {
            acme,
            source,
            provider,
            pairs: Mutex::default(),
            table: RwLock::default(),
        };
        let failure = store.renew().failures.into_iter().next();
        // A certificate that cannot be read is no error if an authority will replace it.
        let failure = failure.filter(|_| !store.is_issued());
        failure.map_or(Ok(Arc::new(store)), Err)
    }

    /// Whether an authority issues the certificates while the server runs.
    pub(super) fn is_issued(&self) -> bool {
        self.acme.is_some()
    }

    /// Whether names beyond those of the address are served: those that the application calls its own.
    pub(super) fn is_open(&self) -> bool {
        matches!(&self.source, CertificateSource::Acme(names) if names.further.is_some())
    }

    /// Whether there is no certificate for this name in lower case, and its address does not list it.
    pub(crate) fn lacks(&self, name: &str) -> bool {
        let is_listed = |names: &AcmeNames| names.names.iter().any(|listed| listed == name);
        if matches!(&self.source, CertificateSource::Acme(names) if is_listed(names)) {
            return false;
        }
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.find(name).is_none()
    }

    /// Whether an authority has not issued the first certificate of some name yet.
    pub(super) fn awaits_first(&self) -> bool {
        let statuses = self.statuses();
        statuses.iter().any(|status| status.expires.is_none())
    }

    /// The status of the certificates that an authority issues.
    pub(crate) fn statuses(&self) -> Vec<CertificateStatus> {
        let acme = self.acme.as_ref();
        acme.map(AcmeFolder::statuses).unwrap_or_default()
    }

    /// The response to an authority that asks for this token over HTTP.
    pub(crate) fn validation_response(&self, token: &str) -> Option<String> {
        self.acme.as_ref()?.response(token)
    }

    /// Reads the files that have changed, except those that another thread is reading. The call
    /// blocks.
    pub(crate) fn renew(&self) -> Renewal {
        if let Some(acme) = &self.acme {
            acme.look(&self.provider);
        }
        self.renew_by(|files| read_certificate(&files.cert, &files.key, &self.provider))
    }

    /// Reads the files of these stores that have changed, each on a thread of its own, and logs what cannot be read.
    pub(crate) async fn renew_all(stores: &[Arc<CertificateStore>], log: &Log) -> io::Result<()> {
        for store in stores {
            let store = Arc::clone(store);
            for reason in on_own_thread(move || store.renew()).await?.failures {
                log.error("certificates not renewed", &[("reason", &reason)]);
            }
        }
        Ok(())
    }

    /// The path that is being read, in case that takes long.
    pub(crate) fn path(&self) -> PathBuf {
        self.pairs().at.clone()
    }

    fn renew_by(&self, read: impl Fn(&TlsFiles) -> Result<CertifiedKey, String>) -> Renewal {
        let mut renewal = Renewal::default();
        let folder = self.source.path().to_owned();
        self.pairs().at.clone_from(&folder);
        let listed = match self.source.candidates() {
            Ok(listed) => listed,
            Err(reason) => {
                renewal.failures.extend(self.pairs().fail(reason));
                return renewal;
            }
        };
        self.pairs().list(&listed);
        for files in &listed {
            let Some(before) = self.pairs().begin(files) else {
                continue;
            };
            let states = files.states();
            let is_absent = self.source.may_lack_files() && states.contains(&None);
            let outcome = match before {
                Some(before) if before == states => None,
                _ if is_absent => Some(Ok(None)),
                _ => Some(read(files).map(|certificate| Some(Arc::new(certificate)))),
            };
            let failure = self.pairs().end(files, states, outcome);
            renewal.failures.extend(failure);
        }
        if self.source.may_lack_files() && !self.is_issued() {
            let failure = self.pairs().find_none(&folder);
            renewal.failures.extend(failure);
        }
        renewal.is_renewed = self.update();
        renewal
    }

    /// Uses the changed certificates from now on. Returns `false` when none has changed, or when
    /// there is no certificate any more: then the old ones stay in use, unless the application calls
    /// no name its own any more.
    fn update(&self) -> bool {
        let table = self.pairs().changed_table(self.source.defaults());
        let is_open = self.is_open();
        let Some(table) = table.filter(|table| is_open || table.default.is_some()) else {
            return false;
        };
        *self.table.write().unwrap_or_else(PoisonError::into_inner) = table;
        true
    }

    fn pairs(&self) -> MutexGuard<'_, CertificatePairs> {
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CertificatePairs {
    /// Notes which pairs of files there are.
    fn list(&mut self, listed: &[TlsFiles]) {
        for files in listed {
            self.known.entry(files.clone()).or_default();
        }
        let are_listed: HashSet<_> = listed.iter().collect();
        self.has_changed |= !self.listed.iter().all(|files| are_listed.contains(files));
        self.known
            .retain(|files, pair| pair.is_being_read || are_listed.contains(files));
        self.listed = listed.to_vec();
    }

    /// Begins to read a pair. Returns the states of its files when it was read before, or `None`
    /// when another thread reads it.
    #[expect(
        clippy::option_option,
        reason = "a pair that was never read is another case than one that is being read"
    )]
    fn begin(&mut self, files: &TlsFiles) -> Option<Option<[FileState; 2]>> {
        let pair = self.known.get_mut(files)?;
        if replace(&mut pair.is_being_read, true) {
            return None;
        }
        self.at.clone_from(&files.cert);
        Some(pair.states)
    }

    /// Ends the reading of a pair. `outcome` is `None` if its files are as before. Returns why the
    /// pair could not be read.
    fn end(
        &mut self,
        files: &TlsFiles,
        states: [FileState; 2],
        outcome: Option<Result<Option<Arc<CertifiedKey>>, String>>,
    ) -> Option<String> {
        let pair = self.known.get_mut(files)?;
        pair.is_being_read = false;
        pair.states = Some(states);
        match outcome? {
            Ok(certificate) => {
                self.has_changed |= certificate.is_some() || pair.certificate.is_some();
                pair.certificate = certificate;
                None
            }
            Err(reason) => Some(reason),
        }
    }

    /// Returns an error, once, if no pair has both its files.
    fn find_none(&mut self, folder: &Path) -> Option<String> {
        let mut pairs = self.listed.iter().map(|files| &self.known[files]);
        if pairs.any(CertificatePair::is_there) {
            self.failure = None;
            return None;
        }
        self.fail(format!(
            "{} has neither NAME.crt with NAME.key nor folders with fullchain.pem and privkey.pem",
            folder.display()
        ))
    }

    fn fail(&mut self, reason: String) -> Option<String> {
        let is_new = self.failure.as_ref() != Some(&reason);
        self.failure = Some(reason.clone());
        is_new.then_some(reason)
    }

    /// The table of all certificates, if any has changed since the last call. Clients that name no known server get the
    /// first one of so many pairs.
    fn changed_table(&mut self, defaults: usize) -> Option<CertificateTable> {
        if !take(&mut self.has_changed) {
            return None;
        }
        let mut table = CertificateTable::default();
        let pairs = self.listed.iter().map(|files| &self.known[files]);
        for (index, pair) in pairs.enumerate() {
            let Some(certificate) = &pair.certificate else {
                continue;
            };
            table.add(certificate);
            if index < defaults && table.default.is_none() {
                table.default = Some(Arc::clone(certificate));
            }
        }
        Some(table)
    }
}

impl CertificatePair {
    fn is_there(&self) -> bool {
        let has_both = |states: &[FileState; 2]| !states.contains(&None);
        self.is_being_read || self.states.as_ref().is_some_and(has_both)
    }
}

impl CertificateTable {
    /// Adds a certificate. The first one for a name counts.
    fn add(&mut self, certificate: &Arc<CertifiedKey>) {
        let end_entity = certificate.end_entity_cert().ok();
        if let Some(parsed) = end_entity.and_then(|der| EndEntityCert::try_from(der).ok()) {
            for name in parsed.valid_dns_names() {
                let name = name.to_ascii_lowercase();
                self.names
                    .entry(name)
                    .or_insert_with(|| Arc::clone(certificate));
            }
        }
    }

    fn find(&self, name: &str) -> Option<&Arc<CertifiedKey>> {
        self.names.get(name).or_else(|| {
            let (_, domain) = name.split_once('.')?;
            self.names.get(&format!("*.{domain}"))
        })
    }
}

impl ResolvesServerCert for CertificateStore {
    /// The certificate for a client. Without one, the client gets the alert `access_denied`: a
    /// certificate that no authority has signed would teach its user to click warnings away.
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        if let Some(acme) = self.acme.as_ref().filter(|_| is_validation(&hello)) {
            return acme.validation(&hello.server_name()?.to_ascii_lowercase());
        }
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let named = hello
            .server_name()
            .and_then(|name| table.find(&name.to_ascii_lowercase()));
        named.or(table.default.as_ref()).cloned()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc::channel;
    use std::thread;

    use rustls::crypto::ring;
    use tempfile::TempDir;

    use super::*;

    fn store(names: &[&str]) -> (TempDir, CertificateStore) {
        let directory = tempfile::tempdir().expect("a directory");
        for name in names {
            write(&directory, name, "");
        }
        let store = CertificateStore {
            acme: None,
            source: CertificateSource::Folder(directory.path().to_owned()),
            provider: Arc::new(ring::default_provider()),
            pairs: Mutex::default(),
            table: RwLock::default(),
        };
        (directory, store)
    }

    fn write(directory: &TempDir, name: &str, content: &str) {
        for extension in ["crt", "key"] {
            let path = directory.path().join(format!("{name}.{extension}"));
            fs::write(path, content).expect("written");
        }
    }

    /// The pairs that a look reads. No pair can be read.
    fn read_by(store: &CertificateStore, wait: impl Fn(&str)) -> Vec<String> {
        let renewal = store.renew_by(|files| {
            let name = files.cert.file_stem().and_then(|name| name.to_str());
            let name = name.expect("a name").to_owned();
            wait(&name);
            Err(name)
        });
        renewal.failures
    }

    #[test]
    fn a_disk_that_does_not_respond_holds_up_no_other_pair() {
        let (directory, store) = store(&["a", "b", "c"]);
        let (begun, begins) = channel();
        let (respond, disk) = channel::<()>();
        let stuck_store = &store;
        thread::scope(|scope| {
            let stuck = scope.spawn(move || {
                read_by(stuck_store, |name| {
                    if name == "b" {
                        begun.send(()).expect("somebody waits");
                        disk.recv().expect_err("nothing is sent");
                    }
                })
            });
            begins.recv().expect("begun");
            assert!(store.path().ends_with("b.crt"));
            write(&directory, "a", "other");
            assert_eq!(read_by(&store, |_| ()), ["a", "c"]);
            fs::remove_file(directory.path().join("a.key")).expect("removed");
            assert!(read_by(&store, |_| ()).is_empty());
            drop(respond);
            assert_eq!(stuck.join().expect("no panic"), ["a", "b"]);
        });
        assert!(read_by(&store, |_| ()).is_empty());
    }

    #[test]
    fn a_folder_without_certificates_is_named_once() {
        let (directory, store) = store(&["a"]);
        assert_eq!(read_by(&store, |_| ()), ["a"]);
        fs::remove_file(directory.path().join("a.crt")).expect("removed");
        let failures = read_by(&store, |_| ());
        assert!(matches!(&failures[..], [one] if one.contains("has neither NAME.crt")));
        assert!(read_by(&store, |_| ()).is_empty());
        drop(directory);
        assert_eq!(read_by(&store, |_| ()).len(), 1);
        assert!(read_by(&store, |_| ()).is_empty());
    }
}
