use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The marks that tell one state of a file from another: its inode, size, and time of change.
/// `None` when there is no file.
pub(super) type FileState = Option<(u64, u64, i64, i64)>;

/// The state of a file.
pub(super) fn state_of(path: &Path) -> FileState {
    let found = fs::metadata(path).ok();
    found.map(|data| (data.ino(), data.size(), data.mtime(), data.mtime_nsec()))
}
