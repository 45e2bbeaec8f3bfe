use std::fs::{File, OpenOptions};
use std::io::{self, Write};

/// Descriptors below this are the standard streams, which stay open.
const FIRST_DESCRIPTOR: i32 = 3;

/// Where the server listens, for whoever started it and waits until it is ready.
#[derive(Debug)]
pub(crate) struct Ready {
    urls: Vec<String>,
    file: Option<File>,
}

impl Ready {
    /// Takes over descriptor `fd`, if there is one: whoever reads it sees its end only when neither the
    /// edge nor a process that it starts keeps it open.
    pub(crate) fn new(urls: Vec<String>, fd: Option<i32>) -> io::Result<Ready> {
        let file = fd.map(take).transpose()?;
        Ok(Ready { urls, file })
    }

    /// The addresses of all listeners.
    pub(crate) fn urls(&self) -> &[String] {
        &self.urls
    }

    /// Writes a line for each listener, and closes the descriptor.
    pub(crate) fn announce(&mut self) -> io::Result<()> {
        if let Some(mut file) = self.file.take() {
            file.write_all((self.urls.join("\n") + "\n").as_bytes())?;
        }
        Ok(())
    }
}

fn take(fd: i32) -> io::Result<File> {
    let path = format!("/proc/self/fd/{fd}");
    let file = OpenOptions::new().write(true).open(path)?;
    if fd >= FIRST_DESCRIPTOR {
        nix::unistd::close(fd)?;
    }
    Ok(file)
}
