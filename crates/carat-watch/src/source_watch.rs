use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::statfs;
use rustix::io::Errno;

use super::notices::Notices;
use super::snapshot::Snapshot;
use super::source_files::SourceFiles;

/// File systems whose files also change on other machines, without a notice: NFS, FUSE, 9P, SMB,
/// CIFS, SMB2, and shared folders of `VirtualBox`.
const REMOTE: [u64; 7] = [
    0x6969,
    0x6573_5546,
    0x0102_1997,
    0x517B,
    0xFF53_4D42,
    0xFE53_4D42,
    0x786F_4256,
];

/// Finds out whether source files have changed.
#[derive(Debug, Default)]
pub(crate) struct SourceWatch {
    sources: SourceFiles,
    /// The files as they were when the code that serves, or is about to serve, was loaded.
    baseline: Snapshot,
    /// `None` where the kernel does not notice changes: then the files are compared each time.
    notices: Option<Notices>,
    /// Whether a file may have changed since the last comparison.
    is_suspect: bool,
}

/// Source files that have changed.
#[derive(PartialEq, Eq)]
pub(crate) struct SourceChange {
    /// The first of the changed files.
    pub path: PathBuf,
    /// How many files have changed.
    pub files: usize,
}

/// A limit of a watch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WatchRemark {
    /// More files or directories exist than are watched.
    Cut,
    /// Changes are not noticed, for this reason: the files are compared at each request.
    Unnoticed(String),
}

impl SourceWatch {
    /// A watch without sources. The remark says why there are no notices.
    pub(crate) fn new() -> (SourceWatch, Option<WatchRemark>) {
        let (notices, remark) = match Notices::new() {
            Ok(notices) => (Some(notices), None),
            Err(error) => (None, Some(WatchRemark::Unnoticed(explain(&error)))),
        };
        let watch = SourceWatch {
            notices,
            ..SourceWatch::default()
        };
        (watch, remark)
    }

    /// A descriptor that is readable when something may have changed.
    pub(crate) fn descriptor(&self) -> Option<Rc<OwnedFd>> {
        self.notices.as_ref().map(Notices::descriptor)
    }

    /// Sets the sources. Files that are new among them count as unchanged.
    pub(crate) fn retarget(&mut self, mut sources: SourceFiles) -> Vec<WatchRemark> {
        sources.supplement(&self.sources);
        if sources == self.sources {
            return Vec::new();
        }
        let is_remote = |tree: &PathBuf| is_remote(tree);
        let mut remarks = Vec::new();
        if self.notices.is_some() && sources.trees.iter().any(is_remote) {
            remarks.push(self.give_up_notices("a network file system"));
        }
        let (now, failure) = self.compare(&sources);
        remarks.extend(failure);
        remarks.extend(now.is_cut.then_some(WatchRemark::Cut));
        let baseline = std::mem::take(&mut self.baseline);
        self.baseline = baseline.retarget(&self.sources, &sources, now);
        self.sources = sources;
        self.is_suspect = true;
        remarks
    }

    /// Whether a file may have changed since the last comparison. Always true without notices.
    pub(crate) fn may_have_changed(&mut self) -> bool {
        let Some(notices) = &self.notices else {
            return true;
        };
        self.is_suspect |= notices.take();
        self.is_suspect
    }

    /// The files that have changed since the last call that returned some.
    pub(crate) fn changes(&mut self) -> Option<SourceChange> {
        if !self.may_have_changed() {
            return None;
        }
        self.is_suspect = false;
        let sources = std::mem::take(&mut self.sources);
        let (now, _) = self.compare(&sources);
        self.sources = sources;
        let differences = now.differences(&self.baseline);
        let change = differences.first().map(|path| SourceChange {
            path: path.to_path_buf(),
            files: differences.len(),
        });
        self.baseline = now;
        change
    }

    /// Reads the files, and watches their directories.
    fn compare(&mut self, sources: &SourceFiles) -> (Snapshot, Option<WatchRemark>) {
        let mut failure = None;
        let notices = self.notices.as_ref();
        let now = Snapshot::take(sources, &self.baseline, |directory| {
            let result = notices.map_or(Ok(()), |notices| notices.watch(directory));
            // A directory that is gone by now is noticed as a change of the directory above.
            let result = result.err();
            failure = failure.take().or(result.filter(is_of_limits));
        });
        let remark = failure.map(|error| self.give_up_notices(&explain(&error)));
        (now, remark)
    }

    fn give_up_notices(&mut self, cause: &str) -> WatchRemark {
        self.notices = None;
        WatchRemark::Unnoticed(cause.to_owned())
    }
}

fn is_of_limits(error: &io::Error) -> bool {
    !matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied
    )
}

fn explain(error: &io::Error) -> String {
    match Errno::from_io_error(error) {
        Some(Errno::NOSPC) => "fs.inotify.max_user_watches is used up".to_owned(),
        Some(Errno::MFILE) => "fs.inotify.max_user_instances is used up".to_owned(),
        _ => error.to_string(),
    }
}

fn is_remote(path: &Path) -> bool {
    // The kernel gives magic numbers of 32 bits.
    let magic = statfs(path).map(|it| u64::try_from(it.f_type).unwrap_or_default() & 0xFFFF_FFFF);
    magic.is_ok_and(|magic| REMOTE.contains(&magic))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    /// A project with the file `a.rb`, watched with notices or without.
    fn project(has_notices: bool) -> (TempDir, SourceWatch) {
        let directory = tempfile::tempdir().expect("a directory");
        write(&directory, "a.rb", "one");
        let (mut watch, remark) = SourceWatch::new();
        assert_eq!(remark, None);
        if !has_notices {
            watch.notices = None;
        }
        assert_eq!(watch.retarget(sources(&directory, &["log"])), []);
        (directory, watch)
    }

    fn sources(directory: &TempDir, except: &[&str]) -> SourceFiles {
        let below = |name: &&str| directory.path().join(name);
        SourceFiles {
            trees: vec![directory.path().to_owned()],
            files: Vec::new(),
            except: except.iter().map(below).collect(),
            complete: true,
        }
    }

    fn write(directory: &TempDir, name: &str, content: &str) {
        let path = directory.path().join(name);
        let parent = path.parent().expect("a directory");
        fs::create_dir_all(parent).expect("a directory");
        fs::write(path, content).expect("written");
    }

    fn count(watch: &mut SourceWatch) -> usize {
        watch.changes().map_or(0, |change| change.files)
    }

    #[test]
    fn each_change_is_found_once_with_notices_and_without() {
        for has_notices in [true, false] {
            let (directory, mut watch) = project(has_notices);
            assert_eq!(count(&mut watch), 0);
            write(&directory, "a.rb", "two");
            write(&directory, "lib/new/b.rb", "new");
            assert_eq!((count(&mut watch), count(&mut watch)), (2, 0));
            write(&directory, "lib/new/b.rb", "newer");
            assert_eq!((count(&mut watch), count(&mut watch)), (1, 0));
            fs::remove_dir_all(directory.path().join("lib")).expect("removed");
            assert_eq!((count(&mut watch), count(&mut watch)), (1, 0));
            write(&directory, "log/a.rb", "x");
            write(&directory, "a.rb", "two");
            assert_eq!(count(&mut watch), 0);
        }
    }

    #[test]
    fn a_change_in_the_same_tick_of_the_clock_is_found() {
        let (directory, mut watch) = project(true);
        for round in 100..200 {
            write(&directory, "a.rb", &round.to_string());
            assert_eq!(count(&mut watch), 1);
        }
    }

    #[test]
    fn other_sources_do_not_hide_a_change_and_are_none_themselves() {
        let (directory, mut watch) = project(true);
        write(&directory, "log/b.rb", "of the log");
        write(&directory, "a.rb", "two");
        assert_eq!(watch.retarget(sources(&directory, &["tmp"])), []);
        let change = watch.changes().expect("a change");
        assert_eq!((change.files, change.path.ends_with("a.rb")), (1, true));
        write(&directory, "log/b.rb", "other");
        assert_eq!(count(&mut watch), 1);
        write(&directory, "a.rb", "three");
        assert_eq!(watch.retarget(sources(&directory, &["a.rb"])), []);
        assert_eq!(count(&mut watch), 0);
    }

    #[test]
    fn files_that_were_known_count_until_all_are_known_again() {
        let (directory, mut watch) = project(true);
        let other = tempfile::tempdir().expect("a directory");
        write(&other, "b.rb", "one");
        let mut loaded = sources(&directory, &[]);
        loaded.files.push(other.path().join("b.rb"));
        watch.retarget(loaded);
        watch.retarget(SourceFiles {
            complete: false,
            ..sources(&directory, &[])
        });
        write(&other, "b.rb", "two");
        assert_eq!(count(&mut watch), 1);
        watch.retarget(sources(&directory, &[]));
        write(&other, "b.rb", "three");
        assert_eq!(count(&mut watch), 0);
    }

    #[test]
    fn a_file_behind_a_link_is_watched_where_it_is() {
        let (directory, mut watch) = project(true);
        let other = tempfile::tempdir().expect("a directory");
        write(&other, "b.rb", "one");
        let link = directory.path().join("b.rb");
        std::os::unix::fs::symlink(other.path().join("b.rb"), link).expect("a link");
        assert_eq!(count(&mut watch), 1);
        write(&other, "b.rb", "two");
        assert_eq!(count(&mut watch), 1);
    }

    #[test]
    fn the_limit_of_the_kernel_is_named() {
        let full = io::Error::from_raw_os_error(Errno::NOSPC.raw_os_error());
        let gone = io::Error::from_raw_os_error(Errno::NOENT.raw_os_error());
        assert!(is_of_limits(&full) && !is_of_limits(&gone));
        assert_eq!(explain(&full), "fs.inotify.max_user_watches is used up");
    }

    #[test]
    fn a_link_that_leads_in_a_circle_and_a_pipe_are_no_files() {
        let (directory, mut watch) = project(true);
        let link = directory.path().join("self");
        std::os::unix::fs::symlink(directory.path(), link).expect("a link");
        let pipe = directory.path().join("pipe.rb");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .expect("a pipe");
        assert_eq!(count(&mut watch), 0);
    }
}
