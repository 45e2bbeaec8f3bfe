use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::configured_file::read_configured;

/// The most bytes that are read; a process id takes less.
const PID_LIMIT: u64 = 1024;

/// The first word of the edge's command line.
const PROGRAM: &[u8] = b"carat-edge\0";

/// A file with the process id of the server. Dropping it removes the file, unless that is a link or
/// names another process.
pub struct PidFile {
    path: PathBuf,
    pid: u32,
}

impl PidFile {
    /// The file at this path. It may exist already: `rackup` and `rails server` write it before they become the edge.
    pub fn new(path: PathBuf) -> PidFile {
        let pid = std::process::id();
        PidFile { path, pid }
    }

    /// Writes the file, in place of an old one if need be. Fails if the old file names a server that is running.
    pub fn write(&self) -> Result<(), String> {
        let path = self.path.display();
        match named(&self.path) {
            Some(pid) if pid == self.pid => return Ok(()),
            Some(pid) if is_server(pid) => {
                return Err(format!(
                    "pidfile: {path} names a running server, process {pid}: stop it or choose another file"
                ));
            }
            _ => {}
        }
        self.take_over()
    }

    /// Writes the file in place of any other pid file.
    pub fn take_over(&self) -> Result<(), String> {
        let path = self.path.display();
        self.replace()
            .map_err(|error| format!("pidfile: cannot write {path}: {error}; choose another file"))
    }

    /// Replaces the file, so that readers see either the old content or the new one. A link is replaced, not followed.
    /// On a full disk the old file is overwritten, because its space is already allocated.
    fn replace(&self) -> io::Result<()> {
        if !is_replaceable(&self.path)? {
            return Err(io::Error::other("it is not a pid file"));
        }
        let full = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded];
        self.rename_new().or_else(|error| {
            let overwritten = full.contains(&error.kind()) && self.overwrite().is_ok();
            if overwritten { Ok(()) } else { Err(error) }
        })
    }

    fn overwrite(&self) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::open(&self.path, flags, Mode::empty())?);
        let text = format!("{}\n", self.pid);
        file.write_all(text.as_bytes())?;
        file.set_len(text.len() as u64)
    }

    fn rename_new(&self) -> io::Result<()> {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{}", self.pid));
        let new = Path::new(&name);
        let mut file = OpenOptions::new().write(true).create_new(true).open(new)?;
        let written = writeln!(file, "{}", self.pid).and_then(|()| fs::rename(new, &self.path));
        if written.is_err() {
            // Only the error of the write is reported.
            let _ = fs::remove_file(new);
        }
        written
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        let is_file = fs::symlink_metadata(&self.path).is_ok_and(|found| found.is_file());
        if is_file && named(&self.path) == Some(self.pid) {
            // The file may be gone already.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether the path can be replaced without loss: there is no file, a link, an empty file, or one with a number.
fn is_replaceable(path: &Path) -> io::Result<bool> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(true),
        found => found?,
    };
    let is_empty = found.is_file() && found.len() == 0;
    Ok(is_empty || found.is_symlink() || (found.is_file() && named(path).is_some()))
}

fn named(path: &Path) -> Option<u32> {
    let text = read_configured(path, PID_LIMIT).ok()?;
    std::str::from_utf8(&text).ok()?.trim().parse().ok()
}

/// Whether the process is an edge. After a reboot, its process id may belong to another program.
fn is_server(pid: u32) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|words| words.starts_with(PROGRAM))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, mknodat};

    use super::*;

    /// No process has an id this high.
    const DEAD: u32 = 4_294_967_290;

    fn in_directory(test: impl FnOnce(PathBuf)) {
        let directory = tempfile::tempdir().expect("a directory");
        test(directory.path().join("carat.pid"));
    }

    #[test]
    fn the_file_names_the_process_until_it_is_dropped() {
        in_directory(|path| {
            let file = PidFile::new(path.clone());
            file.write().expect("writable");
            let found = fs::read_to_string(&path).expect("there");
            assert_eq!(found, format!("{}\n", std::process::id()));
            let found = fs::read_dir(path.parent().expect("a parent"))
                .expect("there")
                .count();
            assert_eq!(found, 1);
            drop(file);
            assert!(!path.exists());
        });
    }

    #[test]
    fn a_file_of_a_dead_process_or_another_program_or_an_empty_one_is_replaced() {
        in_directory(|path| {
            let other = rustix::process::getppid().map_or(1, |pid| pid.as_raw_nonzero().get());
            for text in [DEAD.to_string(), other.to_string(), String::new()] {
                fs::write(&path, &text).expect("writable");
                let file = PidFile::new(path.clone());
                file.write().expect("stale");
                assert_eq!(named(&path), Some(std::process::id()), "{text}");
            }
        });
    }

    #[test]
    fn what_is_not_a_pid_file_is_refused_and_stays() {
        in_directory(|path| {
            for text in ["what\n", "12 monkeys\n", "1\n2\n", &"1".repeat(2000)] {
                fs::write(&path, text).expect("writable");
                let refusal = PidFile::new(path.clone()).write().expect_err("no pid file");
                assert!(refusal.contains("it is not a pid file; choose another"));
                assert_eq!(fs::read_to_string(&path).expect("there"), text);
            }
            // The kernel lets anybody make the device 0:0.
            for kind in [FileType::CharacterDevice, FileType::Fifo] {
                fs::remove_file(&path).expect("there");
                mknodat(CWD, &path, kind, Mode::RUSR, 0).expect("made");
                PidFile::new(path.clone()).write().expect_err("no pid file");
                assert!(!fs::symlink_metadata(&path).expect("there").is_file());
            }
        });
    }

    #[test]
    fn a_link_is_replaced_and_what_it_leads_to_stays() {
        in_directory(|path| {
            let data = path.with_extension("data");
            fs::write(&data, "what").expect("writable");
            symlink(&data, &path).expect("a link");
            let file = PidFile::new(path.clone());
            file.write().expect("a link");
            assert!(fs::symlink_metadata(&path).expect("there").is_file());
            assert_eq!(fs::read_to_string(&data).expect("there"), "what");
        });
    }

    #[test]
    fn a_file_that_names_another_process_stays() {
        in_directory(|path| {
            fs::write(&path, DEAD.to_string()).expect("writable");
            drop(PidFile::new(path.clone()));
            assert_eq!(named(&path), Some(DEAD));
        });
    }
}
