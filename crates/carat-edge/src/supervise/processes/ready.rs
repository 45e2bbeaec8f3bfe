use std::fs::{File, OpenOptions};
use std::io::{self, Write};

use carat_log::Log;

/// Descriptors below this are the standard streams, which stay open.
const FIRST_DESCRIPTOR: i32 = 3;

/// Reports that the server is ready: in the log, and on the descriptor of `--ready-fd`.
pub(crate) struct Ready {
    /// Where the server listens.
    pub(crate) urls: Vec<String>,
    file: Option<File>,
}

impl Ready {
    /// Announces these URLs. `file` is the file of the ready descriptor.
    pub(crate) fn new(urls: Vec<String>, file: Option<File>) -> Ready {
        Ready { urls, file }
    }

    /// Logs the URLs at which the server listens, and writes them to the descriptor.
    pub(crate) fn announce(&mut self, version: &str, log: &Log) {
        for url in &self.urls {
            log.info(
                "listening",
                &[
                    ("url", url),
                    ("version", &version),
                    ("pid", &std::process::id()),
                ],
            );
        }
        // The reader of the descriptor may read the log next.
        log.finish();
        if let Err(error) = self.write_urls() {
            log.warn("cannot write to --ready-fd", &[("cause", &error)]);
        }
    }

    /// Writes a line for each listener, and closes the descriptor.
    fn write_urls(&mut self) -> io::Result<()> {
        if let Some(mut file) = self.file.take() {
            file.write_all((self.urls.join("\n") + "\n").as_bytes())?;
        }
        Ok(())
    }
}

/// Takes over the ready descriptor. Its reader sees the end of file only when neither the edge nor any process that the
/// edge starts has it open. Needs the rights of the user that opened it.
pub(crate) fn take_descriptor(fd: Option<i32>) -> io::Result<Option<File>> {
    fd.map(take).transpose()
}

fn take(fd: i32) -> io::Result<File> {
    let path = format!("/proc/self/fd/{fd}");
    let file = OpenOptions::new().write(true).open(path)?;
    if fd >= FIRST_DESCRIPTOR {
        nix::unistd::close(fd)?;
    }
    Ok(file)
}
