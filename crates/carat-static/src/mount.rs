use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use http::HeaderValue;

use crate::disk::{Directory, TopLevel};
use crate::url_path::UrlPath;

/// A directory whose files are served below a prefix of the URL.
pub struct UrlMount {
    prefix: Vec<u8>,
    /// The path of the directory as it was given, and without symbolic links.
    paths: [PathBuf; 2],
    pub(crate) directory: Directory,
    pub(crate) top_level: TopLevel,
    pub(crate) cache_control: Option<HeaderValue>,
    pub(crate) not_found: Option<String>,
}

impl UrlMount {
    /// Opens `directory` for the URLs below `prefix`, such as `/` and `/assets`.
    ///
    /// # Errors
    ///
    /// The prefix is no plain path, or the directory cannot be read.
    pub fn open(prefix: &str, directory: &Path) -> io::Result<UrlMount> {
        let path = UrlPath::parse(&format!("{}/", prefix.trim_end_matches('/')));
        let mut prefix = path.ok_or(io::ErrorKind::InvalidInput)?.index();
        prefix.truncate(prefix.len() - b"index.html".len());
        if prefix.last() == Some(&b'/') {
            prefix.pop();
        }
        let paths = [directory.to_path_buf(), directory.canonicalize()?];
        let directory = Directory::open(directory)?;
        Ok(UrlMount {
            prefix,
            paths,
            top_level: TopLevel::read(directory.descriptor())?,
            directory,
            cache_control: None,
            not_found: None,
        })
    }

    /// Sends this `Cache-Control` with every file that has no fingerprint in its name.
    #[must_use]
    pub fn with_cache_control(mut self, value: HeaderValue) -> UrlMount {
        self.cache_control = Some(value);
        self
    }

    /// Responds with 404 and the file called `page` to requests for files that do not exist.
    #[must_use]
    pub fn with_not_found(mut self, page: String) -> UrlMount {
        self.not_found = Some(page);
        self
    }

    /// The length of the prefix. The mount with the longest one is searched first.
    pub(crate) fn depth(&self) -> usize {
        self.prefix.len()
    }

    /// The path in the directory, if it begins with the prefix.
    pub(crate) fn below_prefix(&self, path: &UrlPath) -> Option<UrlPath> {
        path.below(&self.prefix)
    }

    /// The name in the directory of the file with this absolute path, if the file is in the
    /// directory.
    pub(crate) fn name_of<'a>(&self, path: &'a [u8]) -> Option<&'a [u8]> {
        let mut roots = self.paths.iter().map(|root| root.as_os_str().as_bytes());
        roots.find_map(|root| path.strip_prefix(root)?.strip_prefix(b"/"))
    }

    /// The path in the directory, if a file may be there, or if the mount has a page for files that
    /// do not exist.
    pub(crate) fn path(&self, path: &UrlPath) -> Option<UrlPath> {
        let path = self.below_prefix(path)?;
        let first = path.first_segment();
        let may_be = first.is_none_or(|first| self.top_level.may_contain(first));
        (may_be || self.not_found.is_some()).then_some(path)
    }
}
