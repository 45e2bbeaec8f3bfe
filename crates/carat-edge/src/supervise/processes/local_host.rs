use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;

use rustix::io::Errno;
use rustix::io::FdFlags;
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use tokio::task::spawn_local;

use crate::supervise::machine_limits::memory_limit;
use crate::supervise::messages::{Mailbox, Message, read_settings};
use crate::supervise::processes::host::Host;
use crate::supervise::upgrade::{Successor, container_obstacle};
use carat_dispatch::FrameSocket;
use carat_files::MEMORY_THREAD;
use carat_http::Listeners;
use carat_machine::{Container, read_memory};
use carat_settings::{SETTINGS_VARIABLE, Settings, UPGRADE_VARIABLE};
use carat_supervisor::{Event, MemorySubjects};

/// The variable that tells the mold the descriptor of its control socket.
const CONTROL_VARIABLE: &str = "CARAT_CONTROL_FD";
/// The variable that tells the mold its generation, which its process title shows.
const GENERATION_VARIABLE: &str = "CARAT_GENERATION";
/// The variable that tells the mold how many bytes the server may use. A JIT compiler gets a part of them.
const MEMORY_VARIABLE: &str = "CARAT_MEMORY_LIMIT";

/// The machine that the edge runs on.
pub(crate) struct LocalHost {
    container: Container,
    listeners: Rc<Listeners>,
}

impl LocalHost {
    /// Finds the control group that the server runs in. `listeners` are the server's listeners.
    pub(crate) fn find(listeners: Rc<Listeners>) -> LocalHost {
        LocalHost {
            container: Container::find(Path::new("/")),
            listeners,
        }
    }
}

impl Host for LocalHost {
    type Socket = FrameSocket;

    fn root(&self) -> &Path {
        Path::new("/")
    }

    fn socket_pair(&self) -> io::Result<(FrameSocket, UnixStream)> {
        let (near, far) = UnixStream::pair()?;
        Ok((FrameSocket::new(near)?, far))
    }

    fn start_mold(
        &self,
        generation: u32,
        settings: &Settings,
        control: UnixStream,
    ) -> io::Result<u32> {
        let (program, arguments) =
            settings.launch.mold_command.split_first().ok_or_else(|| {
                io::Error::new(io::ErrorKind::InvalidInput, "mold_command is empty")
            })?;
        // This is the only descriptor that the mold inherits. The edge's copy is closed when `control` is dropped.
        rustix::io::fcntl_setfd(&control, FdFlags::empty())?;
        let child = Command::new(program)
            .args(arguments)
            .current_dir(&settings.directory)
            .env("PWD", &settings.directory)
            .envs(&settings.launch.mold_environment)
            .env(CONTROL_VARIABLE, control.as_raw_fd().to_string())
            .env(GENERATION_VARIABLE, generation.to_string())
            .env(MEMORY_VARIABLE, memory_limit(settings).to_string())
            .env_remove(SETTINGS_VARIABLE)
            .env_remove(UPGRADE_VARIABLE)
            .spawn()?;
        Ok(child.id())
    }

    fn read_settings(&self, current: Rc<Settings>, mailbox: Mailbox) {
        spawn_local(async move {
            mailbox.send(Message::Settings(read_settings(current).await));
        });
    }

    fn start_successor(&self, settings: &Settings, mailbox: Mailbox) -> io::Result<Successor> {
        if let Some(obstacle) = container_obstacle() {
            return Err(io::Error::other(obstacle));
        }
        Successor::start(settings, &self.listeners.copies()?, mailbox)
    }

    fn signal(&self, pid: u32, signal: Signal) {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // The process may be dead already. Its exit is then reported.
            let _ = kill_process(pid, signal);
        }
    }

    fn signal_group(&self, group: u32, signal: i32) -> bool {
        let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) else {
            return false;
        };
        let result = match Signal::from_named_raw(signal) {
            Some(signal) => kill_process_group(group, signal),
            None => test_kill_process_group(group),
        };
        result != Err(Errno::SRCH)
    }

    fn read_memory(&self, subjects: MemorySubjects, clients: u64, mailbox: Mailbox) {
        let container = self.container.clone();
        spawn_local(async move {
            let reading = MEMORY_THREAD.run(move || read_memory(subjects, clients, &container));
            // A panic is logged.
            if let Ok(reading) = reading.await {
                mailbox.event(Event::MemoryRead(reading));
            }
        });
    }
}
