//! Files that the configuration names: keys, pages, the pid file. Any kind of file may be at their paths.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, open};

/// How long a disk may take when the server starts.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads a file of at most `limit` bytes. A file that is not regular, or is larger, is an error; a FIFO or a device is
/// not waited for. Blocks as long as the disk does.
pub fn read_configured(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(open(path, flags, Mode::empty())?);
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut content = Vec::new();
    if found.len() <= limit {
        file.take(limit + 1).read_to_end(&mut content)?;
    }
    if found.len().max(content.len() as u64) > limit {
        return Err(io::Error::other(format!(
            "it is larger than {} KiB",
            limit / 1024
        )));
    }
    Ok(content)
}

/// Does work at the start of the server that may wait for a disk. Fails if it takes too long.
pub fn in_time<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let (done, result) = channel();
    let thread = thread::Builder::new().name("carat start".to_owned());
    let thread = thread.spawn(move || {
        // After the timeout, the receiver is gone.
        let _ = done.send(work());
    });
    thread.map_err(|error| error.to_string())?;
    let late = |_| format!("a disk did not respond within {START_TIMEOUT:?}");
    result.recv_timeout(START_TIMEOUT).map_err(late)?
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rustix::fs::{CWD, FileType, mknodat};

    use super::*;

    #[test]
    fn work_in_time_has_its_own_outcome() {
        assert_eq!(in_time(|| Ok(1)), Ok(1));
        let failure = || Err("no such file".to_owned());
        assert_eq!(in_time::<u8>(failure), Err("no such file".to_owned()));
    }

    #[test]
    fn only_a_regular_file_within_the_limit_is_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = |name: &str| directory.path().join(name);
        let read = |name: &str| read_configured(&path(name), 1024).map_err(|it| it.to_string());
        fs::write(path("small"), [b'x'; 1024]).expect("written");
        fs::write(path("large"), [b'x'; 1025]).expect("written");
        let sparse = File::create(path("sparse")).expect("created");
        sparse.set_len(20 << 30).expect("sparse");
        fs::create_dir(path("directory")).expect("made");
        mknodat(CWD, path("fifo"), FileType::Fifo, Mode::RUSR, 0).expect("a FIFO");
        std::os::unix::fs::symlink("/dev/zero", path("device")).expect("a link");
        assert_eq!(read("small").map(|content| content.len()), Ok(1024));
        for name in ["large", "sparse"] {
            assert_eq!(read(name), Err("it is larger than 1 KiB".to_owned()));
        }
        for name in ["directory", "fifo", "device"] {
            assert_eq!(read(name), Err("it is not a regular file".to_owned()));
        }
        let missing = read_configured(&path("missing"), 1024).map_err(|error| error.kind());
        assert_eq!(missing, Err(io::ErrorKind::NotFound));
    }
}
