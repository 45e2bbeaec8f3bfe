use std::collections::HashSet;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Dir, Stat, StatxFlags, fstat, statx};

/// The most names that are kept. In a directory with more, every request is looked up.
const NAMES_LIMIT: usize = 10_000;

/// A directory that has changed within this time may change again and keep its time stamp, because
/// the resolution is limited.
const SETTLING: Duration = Duration::from_secs(2);

/// The names in a directory. They show, without a system call, that a request is for no file, as most
/// requests are.
#[derive(Default)]
pub(crate) struct TopLevel(Mutex<Listing>);

#[derive(Default)]
struct Listing {
    /// `None` when there are too many names.
    names: Option<HashSet<Box<[u8]>>>,
    /// The time stamp of the directory when its names were read. `None` if a later change may get the same one.
    changed: Option<(i64, u64)>,
}

impl TopLevel {
    /// The names in `directory`.
    pub(crate) fn read(directory: BorrowedFd<'_>) -> io::Result<TopLevel> {
        Ok(TopLevel(Mutex::new(Listing::read(directory)?)))
    }

    /// Whether there may be a file or directory called `name`, or a page called `name.html`.
    pub(crate) fn may_contain(&self, name: &[u8]) -> bool {
        let listing = self.0.lock().expect("no code panics with the lock held");
        listing.names.as_ref().is_none_or(|names| {
            names.contains(name) || names.contains([name, b".html"].concat().as_slice())
        })
    }

    /// Whether the directory may have changed, as far as the kernel knows without asking a disk or another machine.
    pub(crate) fn is_stale(&self, directory: BorrowedFd<'_>) -> bool {
        let known = self
            .0
            .lock()
            .expect("no code panics with the lock held")
            .changed;
        let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
        let change = statx(directory, c"", flags, StatxFlags::CTIME);
        known.is_none()
            || known
                != change
                    .ok()
                    .map(|now| (now.stx_ctime.tv_sec, now.stx_ctime.tv_nsec.into()))
    }

    /// Reads the names again, which may wait for the disk.
    pub(crate) fn refresh(&self, directory: BorrowedFd<'_>) -> io::Result<()> {
        let listing = Listing::read(directory)?;
        *self.0.lock().expect("no code panics with the lock held") = listing;
        Ok(())
    }
}

impl Listing {
    fn read(directory: BorrowedFd<'_>) -> io::Result<Listing> {
        let stat = fstat(directory)?;
        let mut names = HashSet::new();
        for entry in Dir::read_from(directory)? {
            let entry = entry?;
            names.insert(Box::from(entry.file_name().to_bytes()));
            if names.len() > NAMES_LIMIT {
                return Ok(Listing {
                    names: None,
                    changed: Some(change(&stat)),
                });
            }
        }
        let age = SystemTime::now().duration_since(changed_at(&stat));
        let is_settled = age.is_ok_and(|age| age > SETTLING);
        Ok(Listing {
            names: Some(names),
            changed: is_settled.then(|| change(&stat)),
        })
    }
}

fn change(stat: &Stat) -> (i64, u64) {
    (stat.st_ctime, stat.st_ctime_nsec)
}

fn changed_at(stat: &Stat) -> SystemTime {
    let seconds = u64::try_from(stat.st_ctime).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

#[cfg(test)]
mod tests {
    use std::fs::{File, remove_file};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn new_and_removed_names_are_noticed() {
        let directory = tempfile::tempdir().expect("a directory");
        let descriptor = File::open(directory.path()).expect("opened");
        let top = TopLevel::read(descriptor.as_fd()).expect("read");
        assert!(!top.may_contain(b"a"));
        File::create(directory.path().join("a.html")).expect("created");
        assert!(top.is_stale(descriptor.as_fd()));
        top.refresh(descriptor.as_fd()).expect("read");
        assert!(top.may_contain(b"a") && top.may_contain(b"a.html") && !top.may_contain(b"b"));
        remove_file(directory.path().join("a.html")).expect("removed");
        top.refresh(descriptor.as_fd()).expect("read");
        assert!(!top.may_contain(b"a"));
    }

    #[test]
    fn too_many_names_are_not_kept() {
        let directory = tempfile::tempdir().expect("a directory");
        for number in 0..=NAMES_LIMIT {
            File::create(directory.path().join(number.to_string())).expect("created");
        }
        let descriptor = File::open(directory.path()).expect("opened");
        let top = TopLevel::read(descriptor.as_fd()).expect("read");
        assert!(top.may_contain(b"whatever"));
    }
}
