use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The PEM files of a certificate, followed by its chain, and of its key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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

/// What tells one state of a file from another: its inode, size, and time of change. `None` when there is none.
pub(super) type FileState = Option<(u64, u64, i64, i64)>;

impl CertificateSource {
    /// The pairs of files that may be there, without a look at a file: its disk may not respond. The error is one sentence.
    pub(super) fn candidates(&self) -> Result<Vec<TlsFiles>, String> {
        match self {
            CertificateSource::Files(files) => Ok(files.clone()),
            CertificateSource::Folder(folder) => candidates_in(folder)
                .map_err(|error| format!("cannot read {}: {error}", folder.display())),
        }
    }

    /// Whether a candidate may lack a file.
    pub(super) fn may_lack_files(&self) -> bool {
        matches!(self, CertificateSource::Folder(_))
    }

    /// What is looked at first.
    pub(super) fn path(&self) -> &Path {
        match self {
            CertificateSource::Files(files) => {
                files.first().map_or(Path::new(""), |files| &files.cert)
            }
            CertificateSource::Folder(folder) => folder,
        }
    }
}

impl TlsFiles {
    /// The state of both files.
    pub(super) fn states(&self) -> [FileState; 2] {
        [&self.cert, &self.key].map(|path| {
            let found = fs::metadata(path).ok();
            found.map(|data| (data.ino(), data.size(), data.mtime(), data.mtime_nsec()))
        })
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
