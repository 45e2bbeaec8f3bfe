use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::process::Command;

use rustix::io::FdFlags;

use crate::settings::{self, Settings};

/// Tells the mold which descriptor is its control socket.
const CONTROL_VARIABLE: &str = "CARAT_CONTROL_FD";

/// A started mold: its process id, and the edge's end of its control socket.
#[derive(Debug)]
pub(crate) struct MoldProcess {
    pub(crate) pid: u32,
    pub(crate) control: UnixStream,
}

impl MoldProcess {
    /// Runs the command that loads the application.
    pub(crate) fn start(settings: &Settings) -> io::Result<MoldProcess> {
        let (near, far) = UnixStream::pair()?;
        let (program, arguments) = settings
            .mold_command
            .split_first()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "mold_command is empty"))?;
        // The one descriptor that the mold inherits; the edge's copy is closed when `far` is dropped.
        rustix::io::fcntl_setfd(&far, FdFlags::empty())?;
        let child = Command::new(program)
            .args(arguments)
            .current_dir(&settings.directory)
            .env("PWD", &settings.directory)
            .envs(&settings.mold_environment)
            .env(CONTROL_VARIABLE, far.as_raw_fd().to_string())
            .env_remove(settings::VARIABLE)
            .spawn()?;
        Ok(MoldProcess {
            pid: child.id(),
            control: near,
        })
    }
}
