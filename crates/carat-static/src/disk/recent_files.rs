use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use rustix::fs::{AtFlags, Stat, StatxFlags, major, minor, statx};

/// The most bytes of content that are kept for one directory.
const CONTENT_LIMIT: usize = 2 * 1024 * 1024;
/// The most files whose content is kept for one directory.
const FILES_LIMIT: usize = 1024;

/// How long the content of a file is kept while no request asks for it.
const KEPT: Duration = Duration::from_secs(1);

/// A file that has changed within this time may change again and keep its time stamps, because
/// their resolution is limited.
const SETTLING: Duration = Duration::from_secs(2);

/// Small files that were sent within the last second. Each request asks the kernel whether the name
/// still leads to the same file, and whether the file has changed: outdated content is never sent.
pub(crate) struct RecentFiles(Mutex<KeptFiles>);

struct KeptFiles {
    files: HashMap<Box<[u8]>, RecentFile>,
    /// Bytes of the content of all files.
    bytes: usize,
    looked: Instant,
}

struct RecentFile {
    version: FileVersion,
    stat: Stat,
    content: Bytes,
    /// Whether a request has asked for the file since the last look for unused ones.
    is_used: bool,
}

/// Identifies a file and its state: another file, and the same file after a change, have other
/// versions.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileVersion {
    device: (u32, u32),
    inode: u64,
    size: u64,
    modified: (i64, u32),
    changed: (i64, u32),
}

impl RecentFiles {
    pub(crate) fn new() -> RecentFiles {
        RecentFiles(Mutex::new(KeptFiles {
            files: HashMap::new(),
            bytes: 0,
            looked: Instant::now(),
        }))
    }

    /// The content of the file with this name, if it is kept and current. `resolve` opens the file
    /// to which the name leads now, with `O_PATH` and without waiting for a disk.
    pub(crate) fn take(
        &self,
        name: &[u8],
        resolve: impl FnOnce() -> rustix::io::Result<OwnedFd>,
    ) -> Option<(Bytes, Stat)> {
        let mut kept = self.lock();
        let file = kept.files.get_mut(name)?;
        if resolve().ok().and_then(|it| FileVersion::now(&it)) == Some(file.version) {
            file.is_used = true;
            return Some((file.content.clone(), file.stat));
        }
        kept.forget(name);
        None
    }

    /// Keeps the content of a file. `stat` is its status before it was read.
    pub(crate) fn keep(&self, name: &[u8], stat: &Stat, content: &Bytes) {
        if !is_settled(stat) {
            return;
        }
        let mut kept = self.lock();
        kept.forget(name);
        if kept.bytes + content.len() > CONTENT_LIMIT || kept.files.len() == FILES_LIMIT {
            return;
        }
        kept.bytes += content.len();
        let file = RecentFile {
            version: FileVersion::of(stat),
            stat: *stat,
            content: content.clone(),
            is_used: true,
        };
        kept.files.insert(name.into(), file);
    }

    /// Forgets the files that no recent request has asked for.
    pub(crate) fn tick(&self, now: Instant) {
        let mut kept = self.lock();
        if kept.files.is_empty() || now.saturating_duration_since(kept.looked) < KEPT {
            return;
        }
        kept.looked = now;
        let mut bytes = 0;
        kept.files.retain(|_, file| {
            let is_used = std::mem::take(&mut file.is_used);
            bytes += if is_used { file.content.len() } else { 0 };
            is_used
        });
        kept.bytes = bytes;
        if kept.files.is_empty() {
            kept.files = HashMap::new();
        }
    }

    fn lock(&self) -> MutexGuard<'_, KeptFiles> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeptFiles {
    fn forget(&mut self, name: &[u8]) {
        if let Some(file) = self.files.remove(name) {
            self.bytes -= file.content.len();
        }
    }
}

impl FileVersion {
    fn of(stat: &Stat) -> FileVersion {
        let nanoseconds = |value: u64| u32::try_from(value).unwrap_or(0);
        FileVersion {
            device: (major(stat.st_dev), minor(stat.st_dev)),
            inode: stat.st_ino,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: (stat.st_mtime, nanoseconds(stat.st_mtime_nsec)),
            changed: (stat.st_ctime, nanoseconds(stat.st_ctime_nsec)),
        }
    }

    /// The version of an open file, as far as the kernel knows it without asking a disk.
    fn now(file: &OwnedFd) -> Option<FileVersion> {
        let flags = AtFlags::STATX_DONT_SYNC | AtFlags::EMPTY_PATH;
        let stat = statx(file, c"", flags, StatxFlags::BASIC_STATS).ok()?;
        Some(FileVersion {
            device: (stat.stx_dev_major, stat.stx_dev_minor),
            inode: stat.stx_ino,
            size: stat.stx_size,
            modified: (stat.stx_mtime.tv_sec, stat.stx_mtime.tv_nsec),
            changed: (stat.stx_ctime.tv_sec, stat.stx_ctime.tv_nsec),
        })
    }
}

/// Whether every later change of the file will get other time stamps. After a clock was set back, a
/// time stamp may lie in the future: then the answer is no.
fn is_settled(stat: &Stat) -> bool {
    let changed = u64::try_from(stat.st_ctime.max(stat.st_mtime)).unwrap_or(u64::MAX);
    let changed = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(changed));
    let age = changed.and_then(|changed| SystemTime::now().duration_since(changed).ok());
    age.is_some_and(|age| age > SETTLING)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, FileTimes};
    use std::path::Path;

    use rustix::fs::{Mode, OFlags, Timespec, fstat, openat};
    use tempfile::TempDir;

    use super::*;

    /// A change of a file, after its name.
    type Change = (&'static str, fn(&Path));

    struct Scene {
        root: TempDir,
        directory: File,
        recent: RecentFiles,
    }

    impl Scene {
        fn new() -> Scene {
            let root = tempfile::tempdir().expect("a directory");
            Scene {
                directory: File::open(root.path()).expect("opened"),
                root,
                recent: RecentFiles::new(),
            }
        }

        fn path(&self, name: &str) -> std::path::PathBuf {
            self.root.path().join(name)
        }

        fn resolve(&self, name: &str) -> rustix::io::Result<OwnedFd> {
            openat(&self.directory, name, OFlags::PATH, Mode::empty())
        }

        /// Writes a file, and keeps it as if it had been written long ago.
        fn keep(&self, name: &str, content: &str) {
            fs::write(self.path(name), content).expect("written");
            self.remember(name, content.as_bytes());
        }

        fn remember(&self, name: &str, content: &[u8]) {
            let stat = aged(&self.path(name));
            let version = FileVersion::now(&self.resolve(name).expect("there"));
            self.recent
                .keep(name.as_bytes(), &stat, &Bytes::copy_from_slice(content));
            // The file is new, and is kept as if it were not.
            if let Some(file) = self.recent.lock().files.get_mut(name.as_bytes()) {
                file.version = version.expect("there");
            }
        }

        fn take(&self, name: &str) -> Option<Bytes> {
            let taken = self.recent.take(name.as_bytes(), || self.resolve(name));
            taken.map(|(content, _)| content)
        }
    }

    /// The status of a file, as if it had changed an hour ago.
    fn aged(path: &Path) -> Stat {
        let mut stat = fstat(File::open(path).expect("opened")).expect("a status");
        let hour = Timespec {
            tv_sec: stat.st_ctime - 3600,
            tv_nsec: 0,
        };
        (stat.st_ctime, stat.st_mtime) = (hour.tv_sec, hour.tv_sec);
        stat
    }

    #[test]
    fn what_is_replaced_changed_or_removed_is_not_sent_again() {
        let scene = Scene::new();
        let changes: [Change; 5] = [
            ("rewritten", |path| {
                fs::write(path, "other!!").expect("written");
            }),
            ("replaced", |path| {
                let new = path.with_extension("new");
                fs::write(&new, "content").expect("written");
                fs::rename(new, path).expect("renamed");
            }),
            ("removed", |path| fs::remove_file(path).expect("removed")),
            ("linked", |path| {
                fs::rename(path, path.with_extension("old")).expect("renamed");
                let old = path.with_extension("old");
                std::os::unix::fs::symlink(old, path).expect("a link");
            }),
            ("forbidden", |path| {
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o000);
                fs::set_permissions(path, mode).expect("set");
            }),
        ];
        for (name, change) in changes {
            scene.keep(name, "content");
            assert_eq!(scene.take(name).as_deref(), Some(&b"content"[..]), "{name}");
            change(&scene.path(name));
            assert_eq!(scene.take(name), None, "{name}");
        }
        assert_eq!(scene.recent.lock().bytes, 0);
    }

    #[test]
    fn the_same_time_of_modification_does_not_hide_a_change() {
        let scene = Scene::new();
        scene.keep("a", "content");
        let file = File::options().write(true).open(scene.path("a"));
        let file = file.expect("opened");
        let before = file.metadata().and_then(|it| it.modified()).expect("known");
        fs::write(scene.path("a"), "CONTENT").expect("written");
        file.set_times(FileTimes::new().set_modified(before))
            .expect("set");
        assert_eq!(scene.take("a"), None);
    }

    #[test]
    fn a_file_that_has_just_changed_is_not_kept() {
        let scene = Scene::new();
        fs::write(scene.path("a"), "content").expect("written");
        let stat = fstat(File::open(scene.path("a")).expect("opened")).expect("a status");
        scene
            .recent
            .keep(b"a", &stat, &Bytes::from_static(b"content"));
        assert_eq!(scene.take("a"), None);
    }

    #[test]
    fn what_nobody_asks_for_is_forgotten() {
        let scene = Scene::new();
        scene.keep("a", "content");
        scene.keep("b", "content");
        let start = Instant::now();
        scene.recent.tick(start + KEPT);
        assert!(scene.take("b").is_some());
        scene.recent.tick(start + KEPT + KEPT / 2);
        assert!(scene.recent.lock().files.len() == 2, "it is too early");
        scene.recent.tick(start + 2 * KEPT);
        assert!(scene.take("a").is_none() && scene.take("b").is_some());
        scene.recent.tick(start + 3 * KEPT);
        scene.recent.tick(start + 4 * KEPT);
        assert_eq!(scene.recent.lock().bytes, 0);
    }

    #[test]
    fn all_that_is_kept_is_bounded() {
        let scene = Scene::new();
        let size = 64 * 1024;
        for number in 0..=CONTENT_LIMIT / size {
            let name = format!("{number}");
            fs::write(scene.path(&name), vec![0; size]).expect("written");
            scene.remember(&name, &vec![0; size]);
        }
        let kept = scene.recent.lock();
        let found = (kept.bytes, kept.files.len());
        assert_eq!(found, (CONTENT_LIMIT, CONTENT_LIMIT / size));
    }
}
