use std::env;
use std::io::{self, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream as StdUnixStream;

use listenfd::ListenFd;
use rustix::net::{AddressFamily, SocketType};
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::task::spawn_local;

use super::{Inheritance, READY};
use crate::supervise::messages::Mailbox;
use carat_http::InheritedListener;
use carat_settings::{Settings, UPGRADE_VARIABLE};
use carat_supervisor::{Event, UpgradeEvent};

/// The old edge of an upgrade, as the new one sees it.
#[derive(Debug)]
pub(crate) struct Predecessor {
    socket: StdUnixStream,
    pub(crate) left: Inheritance,
}

/// The listeners with which this process was started, and the old edge if one has started it. The launcher passes them
/// in the way of a service manager: first the listeners, then the socket of the old edge.
pub(crate) fn inherit_listeners(
    settings: &Settings,
) -> io::Result<(Vec<InheritedListener>, Option<Predecessor>)> {
    let mut passed = ListenFd::from_env();
    let inheritance: Option<Inheritance> = match env::var(UPGRADE_VARIABLE) {
        Ok(json) => Some(serde_json::from_str(&json)?),
        Err(_) => None,
    };
    let binds: Vec<String> = match &inheritance {
        Some(left) => left
            .listeners
            .iter()
            .map(|(bind, _)| bind.clone())
            .collect(),
        None => of_service_manager(settings).cloned().collect(),
    };
    let count = binds.len();
    let mut listeners = Vec::new();
    for (index, bind) in binds.into_iter().enumerate() {
        let socket = if let Ok(Some(listener)) = passed.take_tcp_listener(index) {
            listener.into()
        } else if let Some(listener) = passed.take_unix_listener(index)? {
            listener.into()
        } else {
            continue;
        };
        listeners.push(InheritedListener { bind, socket });
    }
    let Some(left) = inheritance else {
        return Ok((listeners, None));
    };
    let socket = take_stream(&mut passed, count)?;
    Ok((listeners, Some(Predecessor { socket, left })))
}

fn take_stream(passed: &mut ListenFd, index: usize) -> io::Result<StdUnixStream> {
    let (family, kind) = (AddressFamily::UNIX.as_raw(), SocketType::STREAM.as_raw());
    let kind = i32::try_from(kind).map_err(io::Error::other)?;
    let stream = passed.take_custom(index, family.into(), kind, "socket")?;
    stream.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// The values of the `bind` option that name sockets of a service manager.
fn of_service_manager(settings: &Settings) -> impl Iterator<Item = &String> {
    settings.bind.iter().filter(|it| it.starts_with("fd://"))
}

impl Predecessor {
    /// Sends the mailbox an event when the old edge has left.
    pub(crate) fn watch(&self, mailbox: Mailbox) -> io::Result<()> {
        self.socket.set_nonblocking(true)?;
        let mut socket = UnixStream::from_std(self.socket.try_clone()?)?;
        spawn_local(async move {
            // The old edge writes nothing. An error counts as its end, too.
            let _ = socket.read(&mut [0]).await;
            mailbox.event(Event::Upgrade(UpgradeEvent::PredecessorLeft));
        });
        Ok(())
    }

    /// Tells the old edge that this one is about to accept clients. An error means that the old edge is gone.
    pub(crate) fn say_ready(&self) -> io::Result<()> {
        self.write(READY)
    }

    /// Tells the old edge that this one has taken over the files of the server.
    pub(crate) fn say_settled(&self) {
        // The old edge may be gone.
        let _ = self.socket.shutdown(Shutdown::Write);
    }

    /// Tells the old edge why this one cannot take over.
    pub(crate) fn say_failed(&self, cause: &str) {
        // The old edge may be gone.
        let _ = self.write(&cause.replace('\n', " "));
    }

    fn write(&self, text: &str) -> io::Result<()> {
        (&self.socket).write_all(format!("{text}\n").as_bytes())
    }
}
