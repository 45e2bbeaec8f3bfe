use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::file_state::FileState;
use super::source_files::{SourceFiles, is_own_folder, is_source};

/// How many directories are looked into.
const DIRECTORIES_LIMIT: usize = 4096;

/// How many files are known.
const FILES_LIMIT: usize = 20_000;

/// The source files at one time.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    files: BTreeMap<PathBuf, FileState>,
    /// Whether there are more than the limits allow.
    pub(super) is_cut: bool,
}

impl Snapshot {
    /// Reads what has changed since `before`. `enter` is called with each directory before it is read.
    pub(super) fn take(
        sources: &SourceFiles,
        before: &Snapshot,
        mut enter: impl FnMut(&Path),
    ) -> Snapshot {
        let mut snapshot = Snapshot::default();
        let mut ahead = sources.trees.clone();
        let mut directories = 0;
        while let Some(directory) = ahead.pop() {
            directories += 1;
            if directories > DIRECTORIES_LIMIT {
                snapshot.is_cut = true;
                break;
            }
            enter(&directory);
            // What cannot be read, or is gone by now, has no files.
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                let path = entry.path();
                let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if sources.exclude(&path) {
                    continue;
                }
                if is_directory && is_own_folder(&entry.file_name()) {
                    ahead.push(path);
                } else if !is_directory && is_source(&entry.file_name()) {
                    snapshot.add(path, before);
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

    /// The files that are in only one of the two, or have another content.
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

    /// The same files for other sources: `self` is what is known of `old`, and `now` what the files of `new` are. What
    /// has changed since in files that are among both remains a change.
    pub(super) fn retarget(
        mut self,
        old: &SourceFiles,
        new: &SourceFiles,
        now: Snapshot,
    ) -> Snapshot {
        self.files.retain(|path, _| new.include(path));
        for (path, state) in now.files {
            if !old.include(&path) {
                self.files.insert(path, state);
            }
        }
        self
    }
}
