use std::env;
use std::io::{self, Write};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use listenfd::ListenFd;
use rustix::net::{AddressFamily, SocketType};
use serde::Serialize;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::task::spawn_local;

use super::message::{HandOver, NewEdgeMessage, OldEdgeMessage, line};
use super::socket::receive;
use crate::supervise::messages::{Mailbox, Message, PredecessorMessage};
use carat_http::{HandedListener, Server};
use carat_settings::UPGRADE_VARIABLE;

/// How long the old edge may take to reply. It only waits for this message.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);

/// The old edge, as the new one sees it.
#[derive(Debug)]
pub(crate) struct Predecessor {
    socket: StdUnixStream,
    hand_over: HandOver,
    listeners: Vec<HandedListener>,
}

impl Predecessor {
    /// The old edge that has started this process; `None` if another process has.
    pub(crate) fn from_environment() -> io::Result<Option<Predecessor>> {
        if env::var_os(UPGRADE_VARIABLE).is_none() {
            return Ok(None);
        }
        // The launcher passes the socket in the way of a service manager.
        let (family, kind) = (AddressFamily::UNIX.as_raw(), SocketType::STREAM.as_raw());
        let kind = i32::try_from(kind).map_err(io::Error::other)?;
        let taken = ListenFd::from_env().take_custom(0, family.into(), kind, "socket");
        let socket = taken?.ok_or(io::ErrorKind::NotFound)?;
        Predecessor::connect(socket).map(Some)
    }

    fn connect(socket: StdUnixStream) -> io::Result<Predecessor> {
        let (first, descriptors) = receive(&socket)?;
        let first = serde_json::from_slice(&first)?;
        let OldEdgeMessage::Listeners(mut hand_over) = first else {
            return Err(io::Error::other("the old edge handed no listeners over"));
        };
        if hand_over.addresses.len() != descriptors.len() {
            return Err(io::Error::other("listeners of the old edge were lost"));
        }
        let addresses = std::mem::take(&mut hand_over.addresses).into_iter();
        let tickets = std::mem::take(&mut hand_over.tickets).into_iter();
        let tickets = tickets.chain(std::iter::repeat(None));
        let listeners = addresses.zip(descriptors).zip(tickets);
        let listeners = listeners.map(|((bind, socket), tickets)| HandedListener {
            bind,
            socket,
            tickets,
        });
        Ok(Predecessor {
            socket,
            listeners: listeners.collect(),
            hand_over,
        })
    }

    /// The number of the upgrade.
    pub(crate) fn number(&self) -> u32 {
        self.hand_over.number
    }

    /// The pid file of the old edge.
    pub(crate) fn pid_file(&self) -> Option<PathBuf> {
        self.hand_over.pid_file.clone()
    }

    /// The control socket of the old edge, if its options name one.
    pub(crate) fn control_socket(&self) -> Option<PathBuf> {
        self.hand_over.control_socket.clone()
    }

    /// The listeners of the old edge.
    pub(crate) fn take_listeners(&mut self) -> Vec<HandedListener> {
        std::mem::take(&mut self.listeners)
    }

    /// Something that tells the old edge why this one fails.
    pub(crate) fn failure_notice(&self) -> io::Result<impl FnOnce(&str) + use<>> {
        let mut socket = self.socket.try_clone()?;
        Ok(move |cause: &str| {
            // The old edge may be gone.
            let _ = socket.write_all(&line(&NewEdgeMessage::Failed(cause.to_owned())));
        })
    }
}

/// The connection to the old edge while this one serves, or is about to.
#[derive(Debug)]
pub(crate) struct PredecessorLink {
    socket: Rc<StdUnixStream>,
    pid: u32,
    /// When this edge said that it is ready; `None` before.
    ready: Option<Instant>,
    /// Whether it accepts clients.
    serves: bool,
    /// Whether the old edge has ended.
    has_ended: bool,
    connections: usize,
}

impl PredecessorLink {
    /// What the old edge says goes to the mailbox.
    pub(crate) fn open(predecessor: Predecessor, mailbox: Mailbox) -> io::Result<PredecessorLink> {
        let Predecessor {
            socket, hand_over, ..
        } = predecessor;
        socket.set_nonblocking(true)?;
        let reader = UnixStream::from_std(socket.try_clone()?)?;
        spawn_local(listen(reader, mailbox));
        Ok(PredecessorLink {
            socket: Rc::new(socket),
            pid: hand_over.pid,
            ready: None,
            serves: false,
            has_ended: false,
            connections: 0,
        })
    }

    /// The workers of this edge are ready. Returns whether it accepts clients at once, because the old edge has ended.
    pub(crate) fn ready(&mut self, addresses: &[String], now: Instant) -> bool {
        self.ready = Some(now);
        self.send(&NewEdgeMessage::Ready {
            addresses: addresses.to_vec(),
        });
        self.begins_to_serve()
    }

    /// Notes what the old edge said. Returns whether this one accepts clients from now on.
    pub(crate) fn receive(&mut self, message: &PredecessorMessage) -> bool {
        match message {
            PredecessorMessage::Serve => return self.begins_to_serve_when_told(),
            PredecessorMessage::Load { connections, .. } => self.connections = *connections,
            PredecessorMessage::Ended => {
                self.has_ended = true;
                return self.begins_to_serve();
            }
        }
        false
    }

    fn begins_to_serve(&mut self) -> bool {
        let begins = self.has_ended && self.ready.is_some() && !self.serves;
        self.serves |= begins;
        begins
    }

    fn begins_to_serve_when_told(&mut self) -> bool {
        let begins = self.ready.is_some() && !self.serves;
        self.serves |= begins;
        begins
    }

    /// This edge accepts clients. The old one hears it when the files are those of this one: it removes only its own.
    pub(crate) fn say_serving(&self, server: &Rc<Server>) {
        let (socket, server) = (Rc::clone(&self.socket), Rc::clone(server));
        spawn_local(async move {
            server.owns_files().await;
            send(&socket, &NewEdgeMessage::Serving);
        });
    }

    /// This edge is told to stop.
    pub(crate) fn say_stopping(&self) {
        self.send(&NewEdgeMessage::Stopping);
    }

    /// Whether the old edge does not reply.
    pub(crate) fn is_late(&self, now: Instant) -> bool {
        let is_late = |ready| now.saturating_duration_since(ready) > REPLY_TIMEOUT;
        !self.serves && self.ready.is_some_and(is_late)
    }

    /// The process id and the clients of the old edge; `None` when it has ended.
    pub(crate) fn remainder(&self) -> Option<(u32, usize)> {
        (!self.has_ended).then_some((self.pid, self.connections))
    }

    fn send(&self, message: &impl Serialize) {
        send(&self.socket, message);
    }
}

fn send(mut socket: &StdUnixStream, message: &impl Serialize) {
    // One that is gone is noticed by the end of the socket.
    let _ = socket.write(&line(message));
}

/// Reads until the socket ends.
async fn listen(reader: UnixStream, mailbox: Mailbox) {
    let mut lines = BufReader::new(reader).lines();
    // An error is the end as well.
    while let Ok(Some(line)) = lines.next_line().await {
        let message = match serde_json::from_str(&line) {
            Ok(OldEdgeMessage::Serve) => PredecessorMessage::Serve,
            Ok(OldEdgeMessage::Load {
                connections,
                bytes,
                runs_apps,
            }) => PredecessorMessage::Load {
                connections,
                bytes,
                runs_apps,
            },
            // An earlier or later version may say more.
            Ok(OldEdgeMessage::Listeners(_)) | Err(_) => continue,
        };
        mailbox.send(Message::Predecessor(message));
    }
    mailbox.send(Message::Predecessor(PredecessorMessage::Ended));
}
