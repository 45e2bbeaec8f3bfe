use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener as StdTcpListener, ToSocketAddrs};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use listenfd::ListenFd;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::{TcpListener, UnixListener};

use crate::socket_file::SocketFile;
use crate::tls::{CertificateStore, TlsConfig};

use super::address::{Address, Place};
use super::stream::ClientStream;

/// Unsent bytes that the kernel buffers for each client. A slow client then takes little kernel memory,
/// and its progress shows in steps of this size rather than of a send buffer of megabytes.
const UNSENT_LIMIT: u32 = 64 * 1024;

/// A socket that clients connect to. A Unix socket's file is removed with its listener.
#[derive(Debug)]
enum ListenerSocket {
    Tcp(TcpListener),
    Unix {
        listener: UnixListener,
        /// `None` for a socket that was passed in.
        _file: Option<SocketFile>,
    },
}

/// A socket that clients connect to, and what their connections begin with.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: ListenerSocket,
    pub(super) preamble: Rc<Preamble>,
}

/// What precedes the first request of each connection, in this order.
#[derive(Debug, Default)]
pub(super) struct Preamble {
    /// Whether there is a PROXY header.
    pub(super) is_proxied: bool,
    /// `None` without TLS.
    pub(super) tls: Option<TlsConfig>,
}

/// Binds every address of the `bind` option, in its order. Ports are bound before `become_user`, and Unix sockets
/// afterwards, so that their files belong to the user. The error names the address and says what to do.
pub(crate) fn bind_all(
    addresses: &[String],
    backlog: i32,
    become_user: impl FnOnce() -> Result<(), String>,
) -> Result<Vec<Listener>, String> {
    let mut inherited = ListenFd::from_env();
    let mut listeners = BTreeMap::new();
    let mut paths = Vec::new();
    let mut inherited_count = 0;
    for (index, text) in addresses.iter().enumerate() {
        let address = Address::parse(text)?;
        let tls = address.certificates.map(TlsConfig::new).transpose();
        let preamble = Rc::new(Preamble {
            is_proxied: address.is_proxied,
            tls: tls.map_err(|error| format!("{text}: {error}"))?,
        });
        let bound = match address.place {
            Place::Tcp { host, port } => bind_tcp(&host, port, backlog),
            Place::Unix { path, mode } => {
                paths.push((index, text, path, mode, preamble));
                continue;
            }
            Place::Inherited => {
                inherited_count += 1;
                adopt(&mut inherited, inherited_count - 1).map(|bound| vec![bound])
            }
        };
        let bound = bound.map_err(|error| advise(text, &error))?;
        listeners.insert(index, (bound, preamble));
    }
    become_user()?;
    for (index, text, path, mode, preamble) in paths {
        let bound = bind_unix(&path, mode, backlog).map_err(|error| advise(text, &error))?;
        listeners.insert(index, (vec![bound], preamble));
    }
    let listeners = listeners.into_values().flat_map(|(sockets, preamble)| {
        sockets.into_iter().map(move |socket| Listener {
            socket,
            preamble: Rc::clone(&preamble),
        })
    });
    Ok(listeners.collect())
}

fn advise(address: &str, error: &io::Error) -> String {
    format!("{address}: {}", advice(error))
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

/// Binds every address of the host: `localhost` has two.
fn bind_tcp(host: &str, port: u16, backlog: i32) -> io::Result<Vec<ListenerSocket>> {
    let mut addresses: Vec<SocketAddr> = (host, port).to_socket_addrs()?.collect();
    addresses.dedup();
    let mut listeners = Vec::new();
    let mut port = port;
    for mut address in addresses {
        address.set_port(port);
        match bind_socket(address, backlog) {
            Ok(listener) => {
                // Port 0: all addresses of the host share the port that the first one got.
                port = listener.local_addr()?.port();
                listeners.push(ListenerSocket::Tcp(listener));
            }
            // A machine without IPv6 still resolves `localhost` to ::1.
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

fn bind_unix(path: &Path, mode: Option<u32>, backlog: i32) -> io::Result<ListenerSocket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    let file = SocketFile::bind(&socket, path)?;
    if let Some(mode) = mode {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    socket.listen(backlog)?;
    socket.set_nonblocking(true)?;
    let listener = UnixListener::from_std(socket.into())?;
    Ok(ListenerSocket::Unix {
        listener,
        _file: Some(file),
    })
}

/// Takes over the listener that was passed in at this index.
fn adopt(inherited: &mut ListenFd, index: usize) -> io::Result<ListenerSocket> {
    if let Ok(Some(listener)) = inherited.take_tcp_listener(index) {
        return listen_on_tcp(listener).map(ListenerSocket::Tcp);
    }
    let listener = inherited.take_unix_listener(index)?.ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, "no listening socket was passed in")
    })?;
    listener.set_nonblocking(true)?;
    Ok(ListenerSocket::Unix {
        listener: UnixListener::from_std(listener)?,
        _file: None,
    })
}

impl Listener {
    /// The certificates of a listener that speaks TLS.
    pub(crate) fn certificates(&self) -> Option<Arc<CertificateStore>> {
        let tls = self.preamble.tls.as_ref()?;
        Some(Arc::clone(&tls.certificates))
    }

    /// Waits for the next client.
    pub(super) fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<ClientStream>> {
        match &self.socket {
            ListenerSocket::Tcp(listener) => listener.poll_accept(cx).map_ok(|(stream, _)| {
                // Otherwise a response of two writes waits for the client's acknowledgement.
                let _ = stream.set_nodelay(true);
                ClientStream::Tcp(stream)
            }),
            ListenerSocket::Unix { listener, .. } => listener
                .poll_accept(cx)
                .map_ok(|(stream, _)| ClientStream::Unix(stream)),
        }
    }

    /// The address for the log and for `--ready-fd`: `http://127.0.0.1:9292`, `https://...` or `unix:///path`.
    pub(crate) fn url(&self) -> String {
        let scheme = self.preamble.tls.as_ref().map_or("http", |_| "https");
        match &self.socket {
            ListenerSocket::Tcp(listener) => listener.local_addr().map_or_else(
                |_| format!("{scheme}://?"),
                |address| format!("{scheme}://{address}"),
            ),
            ListenerSocket::Unix { listener, .. } => {
                let address = listener.local_addr().ok();
                let path = address.as_ref().and_then(|address| address.as_pathname());
                format!("unix://{}", path.unwrap_or(Path::new("?")).display())
            }
        }
    }
}

#[cfg(test)]
impl Listener {
    /// A listener whose connections begin with a request.
    pub(super) fn plain(listener: TcpListener) -> Listener {
        Listener {
            socket: ListenerSocket::Tcp(listener),
            preamble: Rc::default(),
        }
    }
}
