use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener as StdTcpListener, ToSocketAddrs};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::{Path, PathBuf};
use std::task::{Context, Poll};

use listenfd::ListenFd;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::{TcpListener, UnixListener};

use super::Stream;
use super::address::Address;

/// Bytes of an answer that wait in the kernel to be sent, for each client. Beyond them a connection
/// takes nothing more, so that a slow client holds little memory there, and what it takes is seen in
/// steps of this size rather than of the megabytes that a send buffer grows to.
const UNSENT_LIMIT: u32 = 64 * 1024;

/// A socket that clients connect to. A Unix socket's file is removed with its listener.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix {
        listener: UnixListener,
        path: Option<PathBuf>,
    },
}

/// Binds every address of the `bind` option; the error names the address and what to do.
pub(crate) fn bind_all(addresses: &[String], backlog: i32) -> Result<Vec<Listener>, String> {
    let mut inherited = ListenFd::from_env();
    let mut listeners = Vec::new();
    for (text, place) in addresses.iter().zip(0..) {
        let bound = match Address::parse(text)? {
            Address::Tcp { host, port } => bind_tcp(&host, port, backlog),
            Address::Unix { path, mode } => {
                bind_unix(&path, mode, backlog).map(|bound| vec![bound])
            }
            Address::Inherited => {
                let before = addresses[..place]
                    .iter()
                    .filter(|text| text.starts_with("fd://"));
                adopt(&mut inherited, before.count()).map(|bound| vec![bound])
            }
        };
        listeners.extend(bound.map_err(|error| format!("{text}: {}", advice(&error)))?);
    }
    Ok(listeners)
}

fn advice(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "the address is in use: stop the other server or choose another with --bind".to_owned()
        }
        io::ErrorKind::PermissionDenied => {
            "permission denied: choose a port of 1024 or more, or a directory you may write"
                .to_owned()
        }
        io::ErrorKind::AddrNotAvailable => "this machine has no such address".to_owned(),
        _ => error.to_string(),
    }
}

/// Binds the first address of the host; `localhost` listens on all of its addresses.
fn bind_tcp(host: &str, port: u16, backlog: i32) -> io::Result<Vec<Listener>> {
    let mut addresses: Vec<SocketAddr> = (host, port).to_socket_addrs()?.collect();
    addresses.dedup();
    let mut listeners = Vec::new();
    let mut port = port;
    for mut address in addresses {
        address.set_port(port);
        match bind_socket(address, backlog) {
            Ok(listener) => {
                // Port 0: the further addresses of the host take the port that the first was given.
                port = listener.local_addr()?.port();
                listeners.push(Listener::Tcp(listener));
            }
            // A host without IPv6 still resolves `localhost` to ::1.
            Err(error)
                if error.kind() == io::ErrorKind::AddrNotAvailable && !listeners.is_empty() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(listeners)
}

fn bind_socket(address: SocketAddr, backlog: i32) -> io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(address.ip().to_string() != "::")?;
    }
    socket.bind(&address.into())?;
    socket.listen(backlog)?;
    listen_on_tcp(socket.into())
}

/// Connections inherit what is set here.
fn listen_on_tcp(listener: StdTcpListener) -> io::Result<TcpListener> {
    listener.set_nonblocking(true)?;
    SockRef::from(&listener).set_tcp_notsent_lowat(UNSENT_LIMIT)?;
    TcpListener::from_std(listener)
}

fn bind_unix(path: &Path, mode: Option<u32>, backlog: i32) -> io::Result<Listener> {
    remove_stale(path)?;
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.bind(&socket2::SockAddr::unix(path)?)?;
    if let Some(mode) = mode {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    socket.listen(backlog)?;
    socket.set_nonblocking(true)?;
    let listener = UnixListener::from_std(socket.into())?;
    Ok(Listener::Unix {
        listener,
        path: Some(path.to_owned()),
    })
}

/// Removes the socket of a server that is gone; one that answers is in use.
fn remove_stale(path: &Path) -> io::Result<()> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    if is_socket && StdUnixStream::connect(path).is_err() {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// Takes over the listener that was passed in at this place.
fn adopt(inherited: &mut ListenFd, place: usize) -> io::Result<Listener> {
    if let Ok(Some(listener)) = inherited.take_tcp_listener(place) {
        return listen_on_tcp(listener).map(Listener::Tcp);
    }
    let listener = inherited.take_unix_listener(place)?.ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, "no listening socket was passed in")
    })?;
    listener.set_nonblocking(true)?;
    Ok(Listener::Unix {
        listener: UnixListener::from_std(listener)?,
        path: None,
    })
}

impl Listener {
    /// Waits for the next client.
    pub(crate) fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Stream>> {
        match self {
            Listener::Tcp(listener) => listener.poll_accept(cx).map_ok(|(stream, _)| {
                // Without it an answer of two writes waits for the client's acknowledgement.
                let _ = stream.set_nodelay(true);
                Stream::Tcp(stream)
            }),
            Listener::Unix { listener, .. } => listener
                .poll_accept(cx)
                .map_ok(|(stream, _)| Stream::Unix(stream)),
        }
    }

    /// The address for people and for `--ready-fd`: `http://127.0.0.1:9292` or `unix:///path`.
    pub(crate) fn url(&self) -> String {
        match self {
            Listener::Tcp(listener) => listener
                .local_addr()
                .map_or_else(|_| "http://?".to_owned(), |at| format!("http://{at}")),
            Listener::Unix { listener, .. } => {
                let address = listener.local_addr().ok();
                let path = address.as_ref().and_then(|address| address.as_pathname());
                format!("unix://{}", path.unwrap_or(Path::new("?")).display())
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix {
            path: Some(path), ..
        } = self
        {
            // Somebody else may have removed it; then there is nothing left to do.
            let _ = fs::remove_file(path);
        }
    }
}
