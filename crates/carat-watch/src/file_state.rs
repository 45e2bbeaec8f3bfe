use std::fs::{File, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Files up to this size are compared by content.
const CONTENT_LIMIT: u64 = 1024 * 1024;

/// The clock of a file system stands still for a few milliseconds at a time. A file that was
/// written this recently may be written again and keep its stamp.
const STAMP_PRECISION: Duration = Duration::from_secs(1);

/// The state of a file at one time.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileState {
    stamp: Stamp,
    content: u64,
    /// Whether a further change of the content will change the stamp.
    is_stamp_final: bool,
}

/// The record of the file system about a file, without its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Stamp {
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileState {
    /// Reads the file unless its stamp says that it is as before. `None` if there is no such file.
    pub(super) fn read(path: &Path, before: Option<&FileState>) -> Option<FileState> {
        let metadata = path.metadata().ok().filter(Metadata::is_file)?;
        let stamp = Stamp::new(&metadata);
        if let Some(before) = before.filter(|it| it.is_stamp_final && it.stamp == stamp) {
            return Some(*before);
        }
        let content = match content(path, stamp) {
            Ok(content) => content,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(_) => stamp.digest(),
        };
        let age = |time: SystemTime| SystemTime::now().duration_since(time);
        let age = metadata.modified().ok().and_then(|time| age(time).ok());
        Some(FileState {
            stamp,
            content,
            is_stamp_final: age.is_some_and(|age| age > STAMP_PRECISION),
        })
    }

    /// Whether the file has the same content.
    pub(super) fn equals(&self, other: &FileState) -> bool {
        self.content == other.content
    }
}

impl Stamp {
    fn new(metadata: &Metadata) -> Stamp {
        Stamp {
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// The number that stands for the content when it is not read.
    fn digest(&self) -> u64 {
        digest(self)
    }
}

fn content(path: &Path, stamp: Stamp) -> io::Result<u64> {
    if stamp.size > CONTENT_LIMIT {
        return Ok(stamp.digest());
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(CONTENT_LIMIT)
        .read_to_end(&mut bytes)?;
    Ok(digest(&bytes))
}

fn digest(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_changes_with_its_content_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.rb");
        assert!(FileState::read(&path, None).is_none());
        fs::write(&path, "one").expect("written");
        let one = FileState::read(&path, None).expect("a file");
        fs::write(&path, "one").expect("written");
        let same = FileState::read(&path, Some(&one)).expect("a file");
        assert!(one.equals(&same));
        // The second write follows within one tick of the file system's clock.
        fs::write(&path, "two").expect("written");
        assert!(!one.equals(&FileState::read(&path, Some(&same)).expect("a file")));
    }

    #[test]
    fn a_large_file_is_not_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.rb");
        let file = File::create(&path).expect("a file");
        file.set_len(CONTENT_LIMIT + 1).expect("a length");
        let state = FileState::read(&path, None).expect("a file");
        assert_eq!(state.content, state.stamp.digest());
    }
}
