use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::process::Command;

use rustix::io::FdFlags;
use serde::Serialize;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::task::spawn_local;

use super::SOCKETS_VARIABLE;
use super::message::{HandOver, NewEdgeMessage, OldEdgeMessage, line};
use super::socket::send;
use crate::supervise::messages::{Mailbox, Message};
use carat_http::HandedListener;
use carat_settings::{SETTINGS_VARIABLE, Settings, UPGRADE_VARIABLE};
use carat_supervisor::Event;

/// Runs its arguments with SIGHUP ignored: what this process handles, its children have by default.
const IGNORE_HANGUP: [&str; 4] = ["/bin/sh", "-c", r#"trap "" HUP; exec "$@""#, "carat"];

/// More than a new edge says.
const MESSAGES_LIMIT: u64 = 1024 * 1024;

/// The new edge, as the old one sees it. What it says goes to the mailbox.
#[derive(Debug)]
pub(crate) struct Successor {
    pid: u32,
    socket: StdUnixStream,
}

impl Successor {
    /// Starts the new edge with copies of the listeners.
    pub(crate) fn start(
        settings: &Settings,
        number: u32,
        listeners: Vec<HandedListener>,
        mailbox: Mailbox,
    ) -> io::Result<Successor> {
        let (near, far) = StdUnixStream::pair()?;
        let (mut addresses, mut tickets, mut sockets) = (Vec::new(), Vec::new(), Vec::new());
        for listener in listeners {
            addresses.push(listener.bind);
            tickets.push(listener.tickets);
            sockets.push(listener.socket);
        }
        let first = OldEdgeMessage::Listeners(HandOver {
            number,
            pid: std::process::id(),
            pid_file: settings.pid_file.clone(),
            control_socket: settings.control_socket.clone(),
            addresses,
            tickets,
        });
        near.set_nonblocking(true)?;
        send(&near, &line(&first), &sockets)?;
        let pid = start(settings, far)?;
        let reader = UnixStream::from_std(near.try_clone()?)?;
        spawn_local(listen(reader, number, mailbox));
        Ok(Successor { pid, socket: near })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Tells it to accept clients.
    pub(crate) fn let_serve(&self) {
        self.send(&OldEdgeMessage::Serve);
    }

    /// Tells it what this edge still does.
    pub(crate) fn report(&self, (connections, bytes, runs_apps): (usize, u64, bool)) {
        self.send(&OldEdgeMessage::Load {
            connections,
            bytes,
            runs_apps,
        });
    }

    fn send(&self, message: &impl Serialize) {
        // One that does not read, or is gone, is noticed otherwise.
        let _ = (&self.socket).write(&line(message));
    }
}

/// Runs the command with which this edge was started.
fn start(settings: &Settings, socket: StdUnixStream) -> io::Result<u32> {
    let wrapper = settings.ignores_hangup.then_some(IGNORE_HANGUP);
    let own = settings.upgrade_command.iter().map(String::as_str);
    let words: Vec<&str> = wrapper.into_iter().flatten().chain(own).collect();
    let (program, arguments) = words
        .split_first()
        .filter(|_| !settings.upgrade_command.is_empty())
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "upgrade_command is empty"))?;
    // The only descriptor that it inherits; this edge's copy is closed when `socket` is dropped.
    rustix::io::fcntl_setfd(&socket, FdFlags::empty())?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(&settings.directory)
        .env("PWD", &settings.directory)
        .env(SOCKETS_VARIABLE, passed_sockets(settings).to_string())
        .env(UPGRADE_VARIABLE, socket.as_raw_fd().to_string())
        .env_remove(SETTINGS_VARIABLE)
        // The watchdog is its own when it serves.
        .env_remove("WATCHDOG_PID");
    if settings.identity.is_some() {
        // It cannot tell any more that root started this one.
        let variables = settings.mold_environment.iter();
        command.envs(variables.filter(|(name, _)| is_of_user(name)));
    }
    let child = command.spawn()?;
    drop(socket);
    Ok(child.id())
}

fn passed_sockets(settings: &Settings) -> usize {
    let addresses = settings.bind.iter();
    addresses.filter(|it| it.starts_with("fd://")).count()
}

fn is_of_user(variable: &str) -> bool {
    ["HOME", "USER", "LOGNAME"].contains(&variable)
}

/// Reads until the socket ends.
async fn listen(socket: UnixStream, upgrade: u32, mailbox: Mailbox) {
    let mut lines = BufReader::new(socket.take(MESSAGES_LIMIT)).lines();
    // An error is the end as well.
    while let Ok(Some(line)) = lines.next_line().await {
        match serde_json::from_str(&line) {
            Ok(NewEdgeMessage::Ready { addresses }) => {
                mailbox.send(Message::SuccessorReady { upgrade, addresses });
            }
            Ok(NewEdgeMessage::Serving) => mailbox.event(Event::SuccessorServes { upgrade }),
            Ok(NewEdgeMessage::Stopping) => mailbox.event(Event::SuccessorStops { upgrade }),
            Ok(NewEdgeMessage::Failed(cause)) => {
                mailbox.event(Event::SuccessorFailed { upgrade, cause });
            }
            // A later version may say more.
            Err(_) => {}
        }
    }
    let cause = "the new edge ended before it was ready: the log says why".to_owned();
    mailbox.event(Event::SuccessorFailed { upgrade, cause });
}
