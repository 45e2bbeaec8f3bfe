use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use super::file_state::FileState;
use super::source_files::{SourceFiles, is_own_folder, is_source};

/// The most directories that are read.
const DIRECTORIES_LIMIT: usize = 4096;

/// The number of names after which no further directory is read.
const ENTRIES_LIMIT: usize = 200_000;

/// The most files that are compared.
const FILES_LIMIT: usize = 20_000;

/// The source files at one time.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    files: BTreeMap<PathBuf, FileState>,
    /// Whether more files or directories exist than the limits allow.
    pub(super) is_cut: bool,
}

/// The kind of an entry of a directory.
enum Found {
    Folder,
    Source,
    /// A symbolic link to a source file, whose path this is.
    Link(PathBuf),
    Other,
}

impl Found {
    fn of(entry: &DirEntry, sources: &SourceFiles) -> Found {
        let Ok(kind) = entry.file_type() else {
            return Found::Other;
        };
        let name = entry.file_name();
        let may_matter = if kind.is_dir() {
            is_own_folder(&name)
        } else {
            is_source(&name)
        };
        if !may_matter || sources.exclude(&entry.path()) {
            return Found::Other;
        }
        if kind.is_dir() {
            Found::Folder
        } else if kind.is_symlink() {
            fs::canonicalize(entry.path()).map_or(Found::Other, Found::Link)
        } else {
            Found::Source
        }
    }
}

impl Snapshot {
    /// Reads the source files. A file whose stamp is the same in `before` is not read again.
    /// `enter` is called with each directory before its files are read.
    pub(super) fn take(
        sources: &SourceFiles,
        before: &Snapshot,
        mut enter: impl FnMut(&Path),
    ) -> Snapshot {
        let mut snapshot = Snapshot::default();
        let mut entries = 0;
        // Directories near the top come first: those beyond a limit are deep in the tree.
        let mut ahead: VecDeque<_> = sources.trees.iter().cloned().collect();
        let mut directories = 0..DIRECTORIES_LIMIT;
        while let Some(directory) = ahead.pop_front() {
            if directories.next().is_none() || entries > ENTRIES_LIMIT {
                snapshot.is_cut = true;
                break;
            }
            enter(&directory);
            // A directory that cannot be read, or is gone by now, has no files.
            let found = fs::read_dir(&directory).into_iter().flatten().flatten();
            for entry in found.take(ENTRIES_LIMIT).inspect(|_| entries += 1) {
                match Found::of(&entry, sources) {
                    Found::Folder => ahead.push_back(entry.path()),
                    Found::Source => snapshot.add(entry.path(), before),
                    Found::Link(target) => {
                        target.parent().into_iter().for_each(&mut enter);
                        snapshot.add(entry.path(), before);
                    }
                    Found::Other => {}
                }
            }
        }
        for file in &sources.files {
            file.parent().into_iter().for_each(&mut enter);
            snapshot.add(file.clone(), before);
        }
        snapshot
    }

    fn add(&mut self, path: PathBuf, before: &Snapshot) {
        if self.files.len() >= FILES_LIMIT {
            self.is_cut = true;
        } else if let Some(state) = FileState::read(&path, before.files.get(&path)) {
            self.files.insert(path, state);
        }
    }

    /// The files that only one of the two snapshots has, or that differ in content.
    pub(super) fn differences<'a>(&'a self, other: &'a Snapshot) -> Vec<&'a Path> {
        let here = self.files.iter().filter(|(path, state)| {
            let there = other.files.get(*path);
            !there.is_some_and(|there| there.equals(state))
        });
        let gone = other.files.keys();
        let gone = gone.filter(|path| !self.files.contains_key(*path));
        here.map(|(path, _)| path)
            .chain(gone)
            .map(PathBuf::as_path)
            .collect()
    }

    /// Turns the snapshot of the sources `old` into one of the sources `new`. Files that only `new`
    /// has are taken from `seen`. A file of both that has changed since this snapshot remains a
    /// change.
    pub(super) fn retarget(
        mut self,
        old: &SourceFiles,
        new: &SourceFiles,
        seen: Snapshot,
    ) -> Snapshot {
        self.files.retain(|path, _| new.include(path));
        for (path, state) in seen.files {
            if !old.include(&path) {
                self.files.insert(path, state);
            }
        }
        self
    }
}
