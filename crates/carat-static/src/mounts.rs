use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Instant;

use http::Method;
use http::request::Parts;

use crate::mount::UrlMount;
use crate::named_file::NamedFile;
use crate::query::{FilePlace, FileQuery};
use crate::url_path::UrlPath;

/// The directories whose files are served.
#[derive(Clone, Default)]
pub struct Mounts(Vec<Arc<UrlMount>>);

impl Mounts {
    /// The mounts in the order in which they are searched: the one with the longest prefix first.
    pub fn new(mut mounts: Vec<UrlMount>) -> Mounts {
        mounts.sort_by_key(|mount| Reverse(mount.depth()));
        Mounts(mounts.into_iter().map(Arc::new).collect())
    }

    /// Whether no directory is served.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The file that a request may ask for; `None` when it is certainly one for the application.
    pub fn query(&self, request: &Parts) -> Option<FileQuery> {
        if self.is_empty() || !matches!(request.method, Method::GET | Method::HEAD) {
            return None;
        }
        let path = UrlPath::parse(request.uri.path())?;
        let places = self.0.iter().filter_map(|mount| {
            let path = mount.path(&path)?;
            let mount = Arc::clone(mount);
            Some(FilePlace { mount, path })
        });
        FileQuery::new(places.collect(), request)
    }

    /// The file with this absolute path, which must lie in one of the directories.
    pub fn at_path(&self, path: &[u8]) -> Option<NamedFile> {
        self.0.iter().find_map(|mount| {
            let name = mount.name_of(path)?;
            Some(NamedFile::new(mount, name.to_vec()))
        })
    }

    /// The file with the path of this URL, which must begin with one of the prefixes.
    pub fn at_url(&self, path: &str) -> Option<NamedFile> {
        let path = UrlPath::parse(path)?;
        self.0.iter().find_map(|mount| {
            let path = mount.below_prefix(&path)?;
            Some(NamedFile::new(mount, path.file()?.to_vec()))
        })
    }

    /// Whether a directory may have changed. This waits for nothing.
    pub fn is_stale(&self) -> bool {
        self.0
            .iter()
            .any(|mount| mount.top_level.is_stale(mount.directory.descriptor()))
    }

    /// Forgets the content of files that no recent request has asked for. Called from time to time.
    pub fn tick(&self, now: Instant) {
        for mount in &self.0 {
            mount.directory.recent.tick(now);
        }
    }

    /// Reads anew which files are in the directories, which may wait for the disk.
    pub fn refresh(&self) {
        for mount in &self.0 {
            // A directory that cannot be read any more keeps its old names.
            let _ = mount.top_level.refresh(mount.directory.descriptor());
        }
    }
}
