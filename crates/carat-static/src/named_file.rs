use std::fs::File;
use std::sync::Arc;

use crate::disk::{Access, LookupError};
use crate::mount::UrlMount;

/// A file that the application has named instead of sending it.
pub struct NamedFile {
    mount: Arc<UrlMount>,
    name: Vec<u8>,
}

impl NamedFile {
    pub(crate) fn new(mount: &Arc<UrlMount>, name: Vec<u8>) -> NamedFile {
        NamedFile {
            mount: Arc::clone(mount),
            name,
        }
    }

    /// Opens the file, and returns it with its size in bytes. The call waits only as `access`
    /// allows. `None` when there is no such file.
    ///
    /// # Errors
    ///
    /// The kernel has to wait for the disk, or cannot open the file now.
    pub fn open(&self, access: Access) -> Result<Option<(File, u64)>, LookupError> {
        let found = self.mount.directory.file(&self.name, access)?;
        Ok(found.map(|(file, stat)| (file, u64::try_from(stat.st_size).unwrap_or(0))))
    }
}

#[cfg(test)]
mod tests {
    use std::io::read_to_string;

    use crate::{Access, Mounts, NamedFile, UrlMount};

    fn content(named: Option<NamedFile>) -> Option<String> {
        let (file, size) = named?.open(Access::Any).expect("no error")?;
        let text = read_to_string(file).expect("read");
        assert_eq!(text.len() as u64, size);
        Some(text)
    }

    #[test]
    fn a_file_has_a_path_and_a_url() {
        let root = tempfile::tempdir().expect("a directory");
        let directory = root.path().join("files");
        std::fs::create_dir(&directory).expect("a directory");
        std::fs::write(directory.join("a b"), "content").expect("written");
        std::fs::write(root.path().join("secret"), "secret").expect("written");
        std::os::unix::fs::symlink(&directory, root.path().join("link")).expect("a link");
        let link = root.path().join("link");
        let mounts = Mounts::new(vec![UrlMount::open("/protected", &link).expect("opened")]);
        let path = |name: &str| {
            content(mounts.at_path(root.path().join(name).as_os_str().as_encoded_bytes()))
        };
        let url = |url: &str| content(mounts.at_url(url));
        assert_eq!(path("link/a b").as_deref(), Some("content"));
        assert_eq!(path("files/a b").as_deref(), Some("content"));
        assert_eq!(url("/protected/a%20b").as_deref(), Some("content"));
        for outside in "secret|link/../secret|files/../secret|files|files/|filesx/a b".split('|') {
            assert_eq!(path(outside), None, "{outside}");
        }
        let texts = "/a%20b|/protected/../secret|/protected/|/protected/b|protected/a%20b";
        for outside in texts.split('|') {
            assert_eq!(url(outside), None, "{outside}");
        }
    }
}
