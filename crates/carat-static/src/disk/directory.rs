use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use bytes::Bytes;
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat, fstat, open, openat, openat2};
use rustix::io::Errno;

use crate::disk::recent_files::RecentFiles;

/// How often a name is resolved at most, if directories are renamed meanwhile.
const RETRIES: usize = 4;

/// The flags with which a file is opened: a FIFO in the directory must not wait for its writer.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);

/// The things that a lookup may wait for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nothing: only what the kernel has cached is found.
    Cached,
    /// The disk.
    Any,
}

/// Why a lookup has no result.
#[derive(Debug)]
pub enum LookupError {
    /// The kernel's caches do not say: look again with [`Access::Any`].
    WouldBlock,
    /// The file cannot be opened now.
    Io(io::Error),
}

/// A directory from which files are opened, and none from outside it.
pub(crate) struct Directory {
    descriptor: OwnedFd,
    resolution: Resolution,
    pub(crate) recent: RecentFiles,
}

/// A file that may be sent.
pub(crate) enum FoundFile {
    Opened(File),
    /// The content is in memory, so no file was opened.
    Known(Bytes),
}

/// How the kernel resolves names, the best way first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Resolution {
    /// Linux 5.12: symbolic links within the directory are followed, and a lookup can be limited to
    /// what is cached.
    Cached,
    /// Linux 5.6: symbolic links are followed, and every lookup may wait for the disk.
    Beneath,
    /// Sandboxes without openat2(2): no symbolic link is followed.
    Walk,
}

impl Directory {
    /// Opens the directory at `path`, which may be a symbolic link.
    pub(crate) fn open(path: &Path) -> io::Result<Directory> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let descriptor = open(path, flags, Mode::empty())?;
        let resolution = Resolution::of(descriptor.as_fd());
        Ok(Directory {
            descriptor,
            resolution,
            recent: RecentFiles::new(),
        })
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// Finds the file with this relative name, which need not be opened when it was sent a moment ago.
    pub(crate) fn content(
        &self,
        name: &[u8],
        access: Access,
    ) -> Result<Option<(FoundFile, Stat)>, LookupError> {
        if access == Access::Cached && self.resolution == Resolution::Cached {
            let resolve =
                || self.resolve(name, OFlags::PATH | OFlags::CLOEXEC, ResolveFlags::CACHED);
            if let Some((content, stat)) = self.recent.take(name, resolve) {
                return Ok(Some((FoundFile::Known(content), stat)));
            }
        }
        let found = self.file(name, access)?;
        Ok(found.map(|(file, stat)| (FoundFile::Opened(file), stat)))
    }

    /// Opens the file with this relative name. `None` without such a file, and for one that may not be served.
    pub(crate) fn file(
        &self,
        name: &[u8],
        access: Access,
    ) -> Result<Option<(File, Stat)>, LookupError> {
        let opened = match (access, self.resolution) {
            (Access::Cached, Resolution::Cached) => self.resolve(name, FILE, ResolveFlags::CACHED),
            (Access::Cached, _) => return Err(LookupError::WouldBlock),
            (Access::Any, Resolution::Walk) => self.walk(name),
            (Access::Any, _) => self.resolve_again(name),
        };
        match opened.and_then(|file| Ok((fstat(&file)?, File::from(file)))) {
            Ok((stat, file)) => {
                let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
                Ok(is_file.then_some((file, stat)))
            }
            Err(Errno::AGAIN) if access == Access::Cached => Err(LookupError::WouldBlock),
            Err(error @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::IO)) => {
                Err(LookupError::Io(error.into()))
            }
            // The file is missing or forbidden, its name is too long, a link leads out of the
            // directory, it is a socket ...
            Err(_) => Ok(None),
        }
    }

    fn resolve(
        &self,
        name: &[u8],
        flags: OFlags,
        further: ResolveFlags,
    ) -> rustix::io::Result<OwnedFd> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | further;
        rustix::io::retry_on_intr(|| openat2(&self.descriptor, name, flags, Mode::empty(), resolve))
    }

    /// Resolves a name again if the kernel has given up, as it does when directories are renamed
    /// elsewhere in the tree.
    fn resolve_again(&self, name: &[u8]) -> rustix::io::Result<OwnedFd> {
        let mut opened = self.resolve(name, FILE, ResolveFlags::empty());
        for _ in 1..RETRIES {
            if !matches!(opened, Err(Errno::AGAIN)) {
                break;
            }
            opened = self.resolve(name, FILE, ResolveFlags::empty());
        }
        opened
    }

    fn walk(&self, name: &[u8]) -> rustix::io::Result<OwnedFd> {
        let mut directory: Option<OwnedFd> = None;
        let mut segments = name.split(|&byte| byte == b'/').peekable();
        while let Some(segment) = segments.next() {
            let from = directory
                .as_ref()
                .map_or(self.descriptor.as_fd(), AsFd::as_fd);
            let kind = if segments.peek().is_some() {
                OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC
            } else {
                FILE
            };
            directory = Some(openat(
                from,
                segment,
                kind | OFlags::NOFOLLOW,
                Mode::empty(),
            )?);
        }
        directory.ok_or(Errno::NOENT)
    }
}

impl Resolution {
    fn of(directory: BorrowedFd<'_>) -> Resolution {
        let knows = |further| {
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            openat2(
                directory,
                c".",
                flags,
                Mode::empty(),
                ResolveFlags::BENEATH | further,
            )
            .is_ok()
        };
        if knows(ResolveFlags::CACHED) {
            Resolution::Cached
        } else if knows(ResolveFlags::empty()) {
            Resolution::Beneath
        } else {
            Resolution::Walk
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir, rename, write};
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;

    /// A directory `public` beside a file `secret`.
    struct Tree(TempDir);

    impl Tree {
        fn new() -> Tree {
            let tree = Tree(tempfile::tempdir().expect("a directory"));
            write(tree.0.path().join("secret"), "secret").expect("written");
            create_dir(tree.path("")).expect("a directory");
            create_dir(tree.path("sub")).expect("a directory");
            write(tree.path("sub/file"), "content").expect("written");
            tree
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join("public").join(name)
        }

        fn link(&self, target: &str, name: &str) {
            symlink(target, self.path(name)).expect("a link");
        }
    }

    fn open(tree: &Tree, resolution: Resolution) -> Directory {
        let mut directory = Directory::open(&tree.path("")).expect("opened");
        directory.resolution = resolution;
        directory
    }

    fn opens(directory: &Directory, name: &str) -> bool {
        matches!(directory.file(name.as_bytes(), Access::Any), Ok(Some(_)))
    }

    #[test]
    fn files_are_opened_and_directories_named() {
        let tree = Tree::new();
        for resolution in [Resolution::Cached, Resolution::Beneath, Resolution::Walk] {
            let directory = open(&tree, resolution);
            assert!(opens(&directory, "sub/file"));
            assert!(matches!(directory.file(b"sub", Access::Any), Ok(None)));
            for name in ["file", "sub/file/x", "sub/x", &"x".repeat(300)] {
                let holds = matches!(directory.file(name.as_bytes(), Access::Any), Ok(None));
                assert!(holds, "{name}");
            }
        }
    }

    #[test]
    fn no_link_leads_out_of_the_directory() {
        let tree = Tree::new();
        tree.link("../secret", "up");
        tree.link(
            tree.0.path().join("secret").to_str().expect("UTF-8"),
            "absolute",
        );
        tree.link("..", "parent");
        tree.link("/proc/self/root", "magic");
        for resolution in [Resolution::Cached, Resolution::Beneath, Resolution::Walk] {
            let directory = open(&tree, resolution);
            for name in ["up", "absolute", "parent/secret", "magic/etc/passwd"] {
                assert!(!opens(&directory, name), "{name}");
                let holds = !matches!(directory.file(name.as_bytes(), Access::Cached), Ok(Some(_)));
                assert!(holds, "{name}");
            }
        }
    }

    #[test]
    fn a_link_within_the_directory_is_followed() {
        let tree = Tree::new();
        tree.link("sub/file", "link");
        assert!(opens(&open(&tree, Resolution::Cached), "link"));
        assert!(!opens(&open(&tree, Resolution::Walk), "link"));
    }

    #[test]
    fn a_fifo_is_no_file_and_nobody_waits_for_it() {
        let tree = Tree::new();
        let kind = FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, tree.path("fifo"), kind, Mode::RUSR, 0)
            .expect("a FIFO");
        assert!(matches!(
            open(&tree, Resolution::Cached).file(b"fifo", Access::Any),
            Ok(None)
        ));
    }

    #[test]
    fn the_kernel_remembers_what_was_opened() {
        let tree = Tree::new();
        let directory = Directory::open(&tree.path("")).expect("opened");
        assert!(opens(&directory, "sub/file"));
        let cached = directory.file(b"sub/file", Access::Cached);
        let expected = directory.resolution == Resolution::Cached;
        assert_eq!(matches!(cached, Ok(Some(_))), expected);
        rename(tree.path("sub"), tree.path("gone")).expect("renamed");
        assert!(!opens(&directory, "sub/file"));
    }
}
