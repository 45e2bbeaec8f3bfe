use std::cell::RefCell;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::process::Command;

use rustix::io::FdFlags;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines, Take};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::messages::ClientMessage;
use carat_settings::{SETTINGS_VARIABLE, TlsSettings, UPGRADE_VARIABLE};

/// The environment variable with the descriptor to which the client writes its messages.
const MESSAGES_VARIABLE: &str = "CARAT_ACME_FD";
/// The environment variable with the key of the external account: the words of a command are no secret.
const EXTERNAL_KEY_VARIABLE: &str = "CARAT_ACME_EAB_KEY";
/// The most bytes of a client's messages: more than a client writes.
const MESSAGES_LIMIT: u64 = 1024 * 1024;

/// The program that asks an authority for certificates. It runs only while it asks.
pub(crate) struct AcmeClient {
    /// The command that starts the program. It changes with the settings, because the Ruby of an
    /// old release may be gone.
    command: RefCell<Vec<String>>,
    external_key: RefCell<Option<String>>,
    directory: PathBuf,
}

impl AcmeClient {
    /// A client that runs the command of these settings in this directory.
    pub(crate) fn new(settings: &TlsSettings, directory: PathBuf) -> AcmeClient {
        AcmeClient {
            command: RefCell::new(settings.acme_command.clone()),
            external_key: RefCell::new(settings.acme_eab_key.clone()),
            directory,
        }
    }

    /// Runs the command of these settings from now on.
    pub(crate) fn adopt(&self, settings: &TlsSettings) {
        self.command.replace(settings.acme_command.clone());
        self.external_key.replace(settings.acme_eab_key.clone());
    }

    /// Starts the client for these names.
    pub(crate) fn start(&self, names: &[String]) -> io::Result<RunningClient> {
        let (near, far) = StdUnixStream::pair()?;
        let command = self.command.borrow();
        let (program, arguments) = command
            .split_first()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "there is no command"))?;
        // Besides its standard streams, the client inherits only this descriptor. The server's copy
        // is closed when `far` is dropped.
        rustix::io::fcntl_setfd(&far, FdFlags::empty())?;
        let external_key = self.external_key.borrow();
        let variables = external_key.iter().map(|key| (EXTERNAL_KEY_VARIABLE, key));
        let child = Command::new(program)
            .args(arguments)
            .args(names)
            .current_dir(&self.directory)
            .envs(variables)
            .env(MESSAGES_VARIABLE, far.as_raw_fd().to_string())
            .env_remove(SETTINGS_VARIABLE)
            .env_remove(UPGRADE_VARIABLE)
            .spawn()?;
        drop(far);
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("the process id is out of range"))?;
        near.set_nonblocking(true)?;
        let (messages, replies) = UnixStream::from_std(near)?.into_split();
        Ok(RunningClient {
            pidfd: pidfd_open(pid, PidfdFlags::empty())?,
            messages: BufReader::new(messages.take(MESSAGES_LIMIT)).lines(),
            replies,
        })
    }
}

/// A client that is running. It is killed when this is dropped.
pub(crate) struct RunningClient {
    pidfd: OwnedFd,
    messages: Lines<BufReader<Take<OwnedReadHalf>>>,
    replies: OwnedWriteHalf,
}

impl RunningClient {
    /// The client's next message; `None` when the client has ended.
    pub(crate) async fn message(&mut self) -> io::Result<Option<ClientMessage>> {
        let Some(line) = self.messages.next_line().await? else {
            return Ok(None);
        };
        let message = serde_json::from_str(&line);
        Ok(Some(message.map_err(io::Error::other)?))
    }

    /// Tells the client that the server has read what the client wrote.
    pub(crate) async fn confirm(&mut self) -> io::Result<()> {
        self.replies.write_all(b"\n").await
    }
}

impl Drop for RunningClient {
    fn drop(&mut self) {
        // The client has ended already, unless it was given up.
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
    }
}
