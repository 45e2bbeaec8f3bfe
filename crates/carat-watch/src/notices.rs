use std::ffi::{CStr, OsStr};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::{Errno, ioctl_fionread};

use super::source_files::is_source;

const BUFFER_BYTES: usize = 4096;

/// Bytes of the longest notice, whose name has 255 bytes.
const NOTICE_MOST: usize = 272;

/// The kernel's notices about files in watched directories (inotify). A file that was written is
/// noticed when it is closed, before the call of the program that closes it returns. Each single
/// write is not noticed: logs are written often, and a source file is not complete before it is
/// closed.
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

    /// Watches a directory, without its subdirectories.
    pub(super) fn watch(&self, directory: &Path) -> io::Result<()> {
        let flags = WatchFlags::CLOSE_WRITE
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
    /// Notices that arrive meanwhile may stay: otherwise, a program that writes without end would
    /// keep this call busy without end.
    pub(super) fn take(&self) -> bool {
        self.take_each(is_relevant)
    }

    fn take_each(&self, mut is_relevant: impl FnMut(&inotify::Event<'_>) -> bool) -> bool {
        // The kernel limits the notices (`fs.inotify.max_queued_events`). A read takes whole
        // notices, as many as the buffer has room for.
        let Ok(bytes) = ioctl_fionread(&*self.0) else {
            return true;
        };
        let least = (BUFFER_BYTES - NOTICE_MOST) as u64;
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let mut reader = Reader::new(&*self.0, &mut buffer);
        let mut matters = false;
        let mut reads = 0;
        while reads < bytes.div_ceil(least) || !reader.is_buffer_empty() {
            reads += u64::from(reader.is_buffer_empty());
            match reader.next() {
                Ok(notice) => matters |= is_relevant(&notice),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => return matters,
                Err(_) => return true,
            }
        }
        matters
    }
}

/// Whether a notice is about a source file or a directory, or says that notices were lost.
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
    fn what_is_written_without_end_is_read_as_far_as_it_was_there() {
        let directory = tempfile::tempdir().expect("a directory");
        let write = |name: &str| fs::write(directory.path().join(name), "x").expect("written");
        let notices = Notices::new().expect("notices");
        notices.watch(directory.path()).expect("watched");
        let mut files = (0..).map(|file| write(&format!("{file}.log")));
        let count = files.by_ref().take(100).count();
        write("a.rb");
        let mut taken = 0;
        let matters = notices.take_each(|notice| {
            taken += 1;
            files.next();
            is_relevant(notice)
        });
        let holds = matters && (count..3 * count + 200).contains(&taken);
        assert!(holds, "{taken}");
        assert!(!notices.take());
    }

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
