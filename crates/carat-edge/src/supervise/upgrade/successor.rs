use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::process::Command;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, getppid};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::task::JoinSet;

use super::{Inheritance, READY};
use crate::supervise::messages::{Mailbox, Message};
use carat_http::InheritedListener;
use carat_settings::{SETTINGS_VARIABLE, Settings, UPGRADE_VARIABLE};
use carat_supervisor::{Event, UpgradeEvent};

/// Runs its arguments with SIGHUP ignored. A signal that this process handles has its default effect in a child.
const IGNORE_HANGUP: [&str; 4] = ["/bin/sh", "-c", r#"trap "" HUP; exec "$@""#, "carat"];

/// The most bytes that are read from the new edge, which writes much less.
const MESSAGES_LIMIT: u64 = 64 * 1024;

/// Programs that run as process 1 of a container, only start another process, and end with it.
const INITS: [&str; 5] = [
    "tini",
    "docker-init",
    "dumb-init",
    "catatonit",
    "podman-init",
];

/// The new edge of an upgrade, as the old one sees it. Dropping it closes the socket between the two.
#[derive(Debug)]
pub(crate) struct Successor {
    pub(crate) pid: u32,
    _socket: StdUnixStream,
    _listening: JoinSet<()>,
}

impl Successor {
    /// Runs the command that started this edge, with copies of its listeners. The messages of the new edge go to the
    /// mailbox.
    pub(crate) fn start(
        settings: &Settings,
        listeners: &[InheritedListener],
        mailbox: Mailbox,
    ) -> io::Result<Successor> {
        let (near, far) = StdUnixStream::pair()?;
        near.set_nonblocking(true)?;
        let reader = UnixStream::from_std(near.try_clone()?)?;
        let pid = spawn(settings, &far, listeners)?;
        let mut listening = JoinSet::new();
        listening.spawn_local(listen(reader, pid, mailbox));
        Ok(Successor {
            pid,
            _socket: near,
            _listening: listening,
        })
    }
}

fn spawn(
    settings: &Settings,
    socket: &StdUnixStream,
    listeners: &[InheritedListener],
) -> io::Result<u32> {
    let wrapper = settings.launch.ignores_hangup.then_some(IGNORE_HANGUP);
    let own = settings.launch.upgrade_command.iter().map(String::as_str);
    let words: Vec<&str> = wrapper.into_iter().flatten().chain(own).collect();
    let (program, arguments) = words
        .split_first()
        .filter(|_| !settings.launch.upgrade_command.is_empty())
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "upgrade_command is empty"))?;
    // The new edge inherits only these descriptors. This edge's copies are closed when it runs.
    fcntl_setfd(socket, FdFlags::empty())?;
    for listener in listeners {
        fcntl_setfd(&listener.socket, FdFlags::empty())?;
    }
    let listeners = listeners.iter();
    let inheritance = Inheritance {
        socket: socket.as_raw_fd(),
        listeners: listeners
            .map(|it| (it.bind.clone(), it.socket.as_raw_fd()))
            .collect(),
        pid_file: settings.pid_file.clone(),
        control_socket: settings.control_socket.clone(),
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(&settings.directory)
        .env("PWD", &settings.directory)
        .env(UPGRADE_VARIABLE, serde_json::to_string(&inheritance)?)
        .env_remove(SETTINGS_VARIABLE)
        // The new edge uses the watchdog when it serves.
        .env_remove("WATCHDOG_PID");
    if settings.identity.is_some() {
        // The new edge cannot know that root started this one.
        let variables = settings.launch.mold_environment.iter();
        command.envs(variables.filter(|(name, _)| is_of_user(name)));
    }
    Ok(command.spawn()?.id())
}

fn is_of_user(variable: &str) -> bool {
    ["HOME", "USER", "LOGNAME"].contains(&variable)
}

/// Reads until the new edge closes its direction, or ends.
async fn listen(socket: UnixStream, pid: u32, mailbox: Mailbox) {
    let mut lines = BufReader::new(socket.take(MESSAGES_LIMIT)).lines();
    // An error counts as the end, too.
    let first = lines.next_line().await.unwrap_or_default();
    if first.as_deref() == Some(READY) {
        mailbox.event(Event::Upgrade(UpgradeEvent::SuccessorReady { pid }));
        while let Ok(Some(_)) = lines.next_line().await {}
        return mailbox.send(Message::SuccessorSettled);
    }
    let ended = || "the new edge ended before it was ready: the log says why".to_owned();
    let (pid, cause) = (Some(pid), first.unwrap_or_else(ended));
    mailbox.event(Event::Upgrade(UpgradeEvent::SuccessorFailed { pid, cause }));
}

/// Why the process that started the server must not end before it; `None` if it may.
pub(in crate::supervise) fn container_obstacle() -> Option<&'static str> {
    let parent = getppid().map_or(0, Pid::as_raw_pid);
    let init = fs::read_to_string("/proc/1/comm").unwrap_or_default();
    obstacle(std::process::id(), parent, init.trim())
}

fn obstacle(pid: u32, parent: i32, init: &str) -> Option<&'static str> {
    let ends = pid == 1 || (parent == 1 && INITS.contains(&init));
    ends.then_some(
        "the container ends with this process: start a new container, or use `carat restart` for new application code",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_ends_with_its_first_process() {
        assert!(obstacle(1, 0, "carat-edge").is_some());
        assert!(obstacle(7, 1, "tini").is_some());
        assert_eq!(obstacle(7, 1, "systemd"), None);
        assert_eq!(obstacle(7, 3, "tini"), None);
    }
}
