use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The PEM files of a certificate, followed by its chain, and of its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// A file in PEM with the certificate and its chain.
    pub cert: PathBuf,
    /// A file in PEM with the private key.
    pub key: PathBuf,
}

/// Where a listener has its certificates from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CertificateSource {
    /// Some certificates; the first one is for clients that name no known server.
    Files(Vec<TlsFiles>),
    /// All certificates of a folder, in the order of their names: `NAME.crt` with `NAME.key`, and folders with
    /// `fullchain.pem` and `privkey.pem`.
    Folder(PathBuf),
}

/// What tells one state of a file from another: its path, inode, size, and time of change.
pub(super) type FileState = (PathBuf, Option<(u64, u64, i64, i64)>);

impl CertificateSource {
    /// The files as they are now. The error is one sentence.
    pub(super) fn files(&self) -> Result<Vec<TlsFiles>, String> {
        match self {
            CertificateSource::Files(files) => Ok(files.clone()),
            CertificateSource::Folder(folder) => {
                let files = files_in(folder)?;
                if files.is_empty() {
                    return Err(format!(
                        "{} has neither NAME.crt with NAME.key nor folders with fullchain.pem and privkey.pem",
                        folder.display()
                    ));
                }
                Ok(files)
            }
        }
    }
}

impl TlsFiles {
    /// The state of both files; without one when it cannot be read.
    pub(super) fn states(&self) -> [FileState; 2] {
        [&self.cert, &self.key].map(|path| {
            let state = fs::metadata(path)
                .ok()
                .map(|data| (data.ino(), data.size(), data.mtime(), data.mtime_nsec()));
            (path.clone(), state)
        })
    }
}

fn files_in(folder: &Path) -> Result<Vec<TlsFiles>, String> {
    let unreadable = |error| format!("cannot read {}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let files = if path.is_dir() {
            TlsFiles {
                cert: path.join("fullchain.pem"),
                key: path.join("privkey.pem"),
            }
        } else if path.extension().is_some_and(|extension| extension == "crt") {
            TlsFiles {
                key: path.with_extension("key"),
                cert: path,
            }
        } else {
            continue;
        };
        if files.cert.is_file() && files.key.is_file() {
            found.push(files);
        }
    }
    found.sort_by(|one, other| one.cert.cmp(&other.cert));
    Ok(found)
}
