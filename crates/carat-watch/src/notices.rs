use std::ffi::{CStr, OsStr};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::source_files::is_source;

/// The kernel keeps about as many notices.
const NOTICES_LIMIT: usize = 32 * 1024;

/// A notice has a name of up to 255 bytes.
const BUFFER_BYTES: usize = 4096;

/// What the kernel says of files in watched directories. It says so before the write returns.
#[derive(Debug, Clone)]
pub(super) struct Notices(Rc<OwnedFd>);

impl Notices {
    pub(super) fn new() -> io::Result<Notices> {
        let flags = CreateFlags::NONBLOCK | CreateFlags::CLOEXEC;
        Ok(Notices(Rc::new(inotify::init(flags)?)))
    }

    /// The descriptor, which is readable when there is a notice.
    pub(super) fn descriptor(&self) -> Rc<OwnedFd> {
        Rc::clone(&self.0)
    }

    /// Watches a directory, without those below.
    pub(super) fn watch(&self, directory: &Path) -> io::Result<()> {
        let flags = WatchFlags::MODIFY
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        inotify::add_watch(&*self.0, directory, flags)?;
        Ok(())
    }

    /// Takes the notices that there are, and returns whether one may be about a source file.
    pub(super) fn take(&self) -> bool {
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let mut reader = Reader::new(&*self.0, &mut buffer);
        let mut matters = false;
        for _ in 0..NOTICES_LIMIT {
            match reader.next() {
                Ok(notice) => matters = matters || is_relevant(&notice),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => return matters,
                Err(_) => return true,
            }
        }
        true
    }
}

/// Whether it is about a source file, a directory, or notices that were lost.
fn is_relevant(notice: &inotify::Event<'_>) -> bool {
    let about_directory = notice.events().contains(ReadFlags::ISDIR);
    let name = notice.file_name().map(CStr::to_bytes);
    about_directory || name.is_none_or(|name| is_source(OsStr::from_bytes(name)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_write_a_rename_and_a_removal_are_noticed_at_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.rb");
        let notices = Notices::new().expect("notices");
        notices.watch(directory.path()).expect("watched");
        assert!(!notices.take());
        fs::write(&path, "one").expect("written");
        assert!(notices.take() && !notices.take());
        let other = directory.path().join("a.tmp");
        fs::write(&other, "two").expect("written");
        assert!(!notices.take());
        fs::rename(&other, &path).expect("renamed");
        assert!(notices.take());
        fs::remove_file(&path).expect("removed");
        assert!(notices.take());
        fs::create_dir(directory.path().join("lib")).expect("created");
        assert!(notices.take());
        fs::write(directory.path().join("a.log"), "x").expect("written");
        assert!(!notices.take());
    }
}
