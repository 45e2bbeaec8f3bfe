use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The mode of a new directory: only its user has access.
const MODE: u32 = 0o700;
/// The mode bits of a directory into which others may put their own sockets.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Chooses the directory of the control socket: the first that belongs to the user of this process alone. It is created
/// if it does not exist. The error is about the last directory, which is a fallback for every user.
pub(super) fn choose(directories: &[PathBuf]) -> io::Result<PathBuf> {
    let mut refused = io::Error::from(io::ErrorKind::NotFound);
    for directory in directories {
        match make_private(directory) {
            Ok(()) => return Ok(directory.clone()),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// Creates the directory. A directory that exists is checked, because another user may have planted it.
fn make_private(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(MODE).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            let words = format!("{}: {error}", path.display());
            return Err(io::Error::new(error.kind(), words));
        }
        Ok(()) | Err(_) => {}
    }
    let found = fs::symlink_metadata(path)?;
    let objection = if !found.is_dir() {
        "is not a directory"
    } else if found.uid() != rustix::process::geteuid().as_raw() {
        "belongs to another user"
    } else if found.mode() & WRITABLE_BY_OTHERS != 0 {
        "can be written to by other users"
    } else {
        return Ok(());
    };
    let path = path.display();
    let words = format!("{path} {objection}: remove it, or name a socket with control_socket");
    Err(io::Error::new(io::ErrorKind::PermissionDenied, words))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::slice;

    use super::*;

    fn in_directory(test: impl FnOnce(&Path)) {
        let directory = tempfile::tempdir().expect("a directory");
        test(directory.path());
    }

    fn objection(path: &Path) -> String {
        let refused = choose(&[path.to_owned()]).expect_err("refused");
        refused.to_string()
    }

    #[test]
    fn a_new_directory_is_private() {
        in_directory(|parent| {
            let path = parent.join("carat");
            assert_eq!(choose(slice::from_ref(&path)).expect("created"), path);
            let mode = fs::metadata(&path).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
            assert_eq!(choose(slice::from_ref(&path)).expect("used again"), path);
        });
    }

    #[test]
    fn the_first_that_can_be_private_is_taken() {
        in_directory(|parent| {
            let [nowhere, good] = [parent.join("nowhere/carat"), parent.join("carat")];
            assert_eq!(choose(&[nowhere, good.clone()]).expect("created"), good);
        });
    }

    #[test]
    fn what_another_user_could_have_planted_is_refused() {
        in_directory(|parent| {
            let path = parent.join("carat");
            symlink(parent, &path).expect("free");
            assert!(objection(&path).contains("is not a directory"));
            fs::remove_file(&path).expect("there");
            fs::write(&path, "").expect("free");
            assert!(objection(&path).contains("is not a directory"));
            for mode in [0o720, 0o702, 0o777] {
                fs::set_permissions(parent, Permissions::from_mode(mode)).expect("ours");
                assert!(objection(parent).contains("can be written to by other users"));
            }
        });
    }

    #[test]
    fn the_directory_of_another_user_is_refused() {
        in_directory(|path| {
            let is_root = rustix::process::geteuid().is_root();
            if is_root {
                chown(path, Some(65_534), None).expect("root may");
            }
            let other = if is_root { path } else { Path::new("/usr") };
            assert!(objection(other).contains("belongs to another user"));
        });
    }
}
