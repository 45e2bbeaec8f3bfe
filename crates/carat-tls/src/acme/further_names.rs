use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use super::host_name::{CERTIFICATE, is_host_name};

/// The most names that are served on demand. The files of each are looked at every ten seconds.
const FURTHER_NAMES_LIMIT: usize = 1000;

/// The names that clients have asked for and that the application has called its own: those that have a certificate, and
/// those that wait for one. All listeners share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct FurtherNames(Arc<RwLock<BTreeSet<String>>>);

impl FurtherNames {
    /// Adds a name. Returns false if there are too many.
    pub(crate) fn add(&self, name: &str) -> bool {
        let mut names = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let has_room = names.len() < FURTHER_NAMES_LIMIT || names.contains(name);
        if has_room {
            names.insert(name.to_owned());
        }
        has_room
    }

    /// Adds the names whose certificates are in a folder, as an earlier run of the server has kept them.
    pub(crate) fn find(&self, folder: &Path) {
        // Nothing was kept yet if there is no folder.
        let entries = fs::read_dir(folder).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let has_certificate = |name: &String| folder.join(name).join(CERTIFICATE).is_file();
        let names = names.filter(|name| is_host_name(name) && has_certificate(name));
        // Sorted, so that each start finds the same ones when there are too many.
        for name in names.collect::<BTreeSet<_>>() {
            self.add(&name);
        }
    }

    /// Removes a name.
    pub(crate) fn forget(&self, name: &str) {
        let mut names = self.0.write().unwrap_or_else(PoisonError::into_inner);
        names.remove(name);
    }

    /// All names in their order.
    pub(crate) fn list(&self) -> Vec<String> {
        let names = self.0.read().unwrap_or_else(PoisonError::into_inner);
        names.iter().cloned().collect()
    }
}

/// Whether both are the same list.
impl PartialEq for FurtherNames {
    fn eq(&self, other: &FurtherNames) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for FurtherNames {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_names_than_the_limit() {
        let names = FurtherNames::default();
        for number in 0..FURTHER_NAMES_LIMIT {
            assert!(names.add(&format!("a{number}.example")));
        }
        assert!(!names.add("b.example") && names.add("a7.example"));
        names.forget("a7.example");
        assert!(names.add("b.example"));
        assert_eq!(names.list().len(), FURTHER_NAMES_LIMIT);
    }

    #[test]
    fn names_with_a_certificate_are_found_and_nothing_else() {
        let directory = tempfile::tempdir().expect("a directory");
        for name in ["b.example", "a.example", "Upper.example", "localhost"] {
            let folder = directory.path().join(name);
            fs::create_dir(&folder).expect("made");
            fs::write(folder.join(CERTIFICATE), "").expect("written");
        }
        fs::create_dir(directory.path().join("c.example")).expect("made");
        fs::write(directory.path().join("account.pem"), "").expect("written");
        let names = FurtherNames::default();
        names.find(directory.path());
        assert_eq!(names.list(), ["a.example", "b.example"]);
        names.find(&directory.path().join("missing"));
        assert_eq!(names.list().len(), 2);
    }
}
