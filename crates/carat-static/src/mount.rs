use std::io;
use std::path::Path;

use http::HeaderValue;

use crate::directory::Directory;
use crate::top_level::TopLevel;
use crate::url_path::UrlPath;

/// A directory whose files are served below a prefix of the URL.
#[derive(Debug)]
pub struct UrlMount {
    prefix: Vec<u8>,
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
        let directory = Directory::open(directory)?;
        Ok(UrlMount {
            prefix,
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

    /// Responds with 404 and the file called `page` to what is not there.
    #[must_use]
    pub fn with_not_found(mut self, page: String) -> UrlMount {
        self.not_found = Some(page);
        self
    }

    /// How long the prefix is: the longest one serves a request.
    pub(crate) fn depth(&self) -> usize {
        self.prefix.len()
    }

    /// The path in the directory, if there may be something.
    pub(crate) fn path(&self, path: &UrlPath) -> Option<UrlPath> {
        let path = path.below(&self.prefix)?;
        let first = path.first_segment();
        let may_be = first.is_none_or(|first| self.top_level.may_contain(first));
        (may_be || self.not_found.is_some()).then_some(path)
    }
}
