use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::Instant;

use rustix::io::FdFlags;

use carat_wire::control::encode_promote;

use super::channel::Channel;
use super::event::{Events, Who};
use super::memory::Rollup;
use crate::settings::{self, Settings};

/// Tells the mold which descriptor is its control socket.
const CONTROL_VARIABLE: &str = "CARAT_CONTROL_FD";

/// The process that has loaded the application, and forks workers.
#[derive(Debug)]
pub(crate) struct Mold {
    pub(crate) generation: u32,
    pub(crate) pid: u32,
    pub(crate) channel: Channel,
    pub(crate) started: Instant,
    pub(crate) is_ready: bool,
    /// What it weighed when it was weighed last.
    pub(crate) rollup: Option<Rollup>,
}

impl Mold {
    /// Starts the command that loads the application.
    pub(crate) fn start(settings: &Settings, generation: u32, events: Events) -> io::Result<Mold> {
        let (near, far) = UnixStream::pair()?;
        let (program, arguments) = settings
            .mold_command
            .split_first()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "mold_command is empty"))?;
        // The one descriptor that the mold is to inherit; ours is closed when `far` is dropped.
        rustix::io::fcntl_setfd(&far, FdFlags::empty())?;
        let child = Command::new(program)
            .args(arguments)
            .current_dir(&settings.directory)
            .envs(&settings.mold_environment)
            .env(CONTROL_VARIABLE, far.as_raw_fd().to_string())
            .env_remove(settings::VARIABLE)
            .spawn()?;
        Ok(Mold {
            generation,
            pid: child.id(),
            channel: Channel::open(near, Who::Mold(generation), events)?,
            started: Instant::now(),
            is_ready: false,
            rollup: None,
        })
    }

    /// Tells a worker to be the mold of this generation.
    pub(crate) fn promote(pid: u32, channel: Channel, generation: u32) -> Mold {
        channel.rename(Who::Mold(generation));
        channel.send(Vec::new(), |out| encode_promote(out, generation));
        Mold {
            generation,
            pid,
            channel,
            started: Instant::now(),
            is_ready: false,
            rollup: None,
        }
    }
}
