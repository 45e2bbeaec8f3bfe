use std::fs;
use std::path::{Path, PathBuf};

/// The pid file that `rackup` or `rails server` wrote before it became the edge. Dropping it removes the file, unless the
/// file names another process.
#[derive(Debug)]
pub(crate) struct PidFile(PathBuf);

impl PidFile {
    pub(crate) fn adopt(path: PathBuf) -> PidFile {
        PidFile(path)
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        if names(&self.0, std::process::id()) {
            // It may be gone already.
            let _ = fs::remove_file(&self.0);
        }
    }
}

fn names(path: &Path, pid: u32) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.trim().parse() == Ok(pid))
}
