use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::acme::AcmeNames;
use super::file_state::{FileState, state_of};

/// The PEM files of a certificate with its chain, and of its key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct TlsFiles {
    /// A file in PEM with the certificate and its chain.
    pub(crate) cert: PathBuf,
    /// A file in PEM with the private key.
    pub(crate) key: PathBuf,
}

/// Where a listener has its certificates from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CertificateSource {
    /// Some certificates; the first one is for clients that name no known server.
    Files(Vec<TlsFiles>),
    /// All certificates of a folder, in the order of their names: `NAME.crt` with `NAME.key`, and folders with
    /// `fullchain.pem` and `privkey.pem`.
    Folder(PathBuf),
    /// An authority issues them while the server runs.
    Acme(AcmeNames),
}

impl CertificateSource {
    /// The pairs of files that may be there. No file is looked at, since its disk may not respond.
    /// The error is one sentence.
    pub(super) fn candidates(&self) -> Result<Vec<TlsFiles>, String> {
        match self {
            CertificateSource::Files(files) => Ok(files.clone()),
            CertificateSource::Folder(folder) => candidates_in(folder)
                .map_err(|error| format!("cannot read {}: {error}", folder.display())),
            CertificateSource::Acme(names) => {
                let files = |path: PathBuf| TlsFiles {
                    cert: path.clone(),
                    key: path,
                };
                Ok(names.certificates().map(files).collect())
            }
        }
    }

    /// How many of the first candidates are for clients that name no known server. A name that the application has called
    /// its own is nobody else's.
    pub(super) fn defaults(&self) -> usize {
        match self {
            CertificateSource::Acme(names) if names.further.is_some() => names.names.len(),
            CertificateSource::Files(_)
            | CertificateSource::Folder(_)
            | CertificateSource::Acme(_) => usize::MAX,
        }
    }

    /// Whether a pair of files may be incomplete.
    pub(super) fn may_lack_files(&self) -> bool {
        !matches!(self, CertificateSource::Files(_))
    }

    /// The path that is read first.
    pub(super) fn path(&self) -> &Path {
        match self {
            CertificateSource::Files(files) => {
                files.first().map_or(Path::new(""), |files| &files.cert)
            }
            CertificateSource::Folder(folder) => folder,
            CertificateSource::Acme(names) => &names.folder,
        }
    }
}

impl TlsFiles {
    /// The state of both files.
    pub(super) fn states(&self) -> [FileState; 2] {
        [&self.cert, &self.key].map(|path| state_of(path))
    }
}

fn candidates_in(folder: &Path) -> io::Result<Vec<TlsFiles>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
        if !kind.is_dir() && path.extension().is_some_and(|extension| extension == "crt") {
            found.push(TlsFiles {
                key: path.with_extension("key"),
                cert: path,
            });
        } else if kind.is_dir() || kind.is_symlink() {
            found.push(TlsFiles {
                cert: path.join("fullchain.pem"),
                key: path.join("privkey.pem"),
            });
        }
    }
    found.sort_by(|one, other| one.cert.cmp(&other.cert));
    Ok(found)
}
