use std::cell::RefCell;
use std::io;
use std::net::TcpListener as StdTcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixListener as StdUnixListener;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::task::{Context, Poll};

use rustix::net::{SocketFlags, accept_with};
use socket2::{Domain, SockRef};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use carat_files::SocketFile;
use carat_wire::Scheme;

use crate::sockets::stream::ClientStream;
use crate::sockets::transport::Handshake;

/// How many unsent bytes the kernel buffers for each client. With this limit, a slow client takes little kernel memory,
/// and its progress shows in steps of this size instead of megabytes.
const UNSENT_LIMIT: u32 = 64 * 1024;

/// A socket that clients connect to. A Unix socket's file is removed with its listener.
pub struct Listener {
    bind: String,
    socket: ListeningSocket,
    /// The file of a Unix socket. `None` for TCP, for a socket of a service manager, and while another edge accepts the
    /// clients.
    file: RefCell<Option<SocketFile>>,
    pub(crate) preamble: Rc<Preamble>,
}

/// The bytes before the first request of each connection: the PROXY header and the handshake of a transport, in this order.
#[derive(Default)]
pub(crate) struct Preamble {
    /// Whether there is a PROXY header.
    pub(crate) is_proxied: bool,
    /// `None` for a bare socket.
    pub(crate) handshake: Option<Rc<dyn Handshake>>,
}

/// A value of the `bind` option, and what it says about connections.
#[derive(Default, Clone)]
pub(crate) struct BindValue {
    pub(crate) text: String,
    pub(crate) preamble: Rc<Preamble>,
}

enum ListeningSocket {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    /// Listens on a TCP socket. Its connections inherit the socket options that are set here.
    pub(crate) fn tcp(bind: &BindValue, listener: StdTcpListener) -> io::Result<Listener> {
        listener.set_nonblocking(true)?;
        SockRef::from(&listener).set_tcp_notsent_lowat(UNSENT_LIMIT)?;
        let socket = ListeningSocket::Tcp(TcpListener::from_std(listener)?);
        Ok(Listener::new(bind, socket, None))
    }

    /// Listens on a Unix socket, which may have a file to remove.
    pub(crate) fn unix(
        bind: &BindValue,
        listener: StdUnixListener,
        file: Option<SocketFile>,
    ) -> io::Result<Listener> {
        listener.set_nonblocking(true)?;
        let socket = ListeningSocket::Unix(UnixListener::from_std(listener)?);
        Ok(Listener::new(bind, socket, file))
    }

    /// Listens on an inherited socket, with this backlog, or the one that it has.
    pub(crate) fn inherited(
        bind: &BindValue,
        socket: OwnedFd,
        backlog: Option<i32>,
    ) -> io::Result<Listener> {
        let domain = {
            let socket = SockRef::from(&socket);
            backlog.map_or(Ok(()), |backlog| socket.listen(backlog))?;
            socket.domain()?
        };
        if domain == Domain::UNIX {
            Listener::unix(bind, socket.into(), None)
        } else {
            Listener::tcp(bind, socket.into())
        }
    }

    fn new(bind: &BindValue, socket: ListeningSocket, file: Option<SocketFile>) -> Listener {
        Listener {
            bind: bind.text.clone(),
            socket,
            file: RefCell::new(file),
            preamble: Rc::clone(&bind.preamble),
        }
    }

    /// The value of the `bind` option that it belongs to.
    pub fn bind(&self) -> &str {
        &self.bind
    }

    /// Waits for the next client.
    pub(crate) fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<ClientStream>> {
        match &self.socket {
            ListeningSocket::Tcp(listener) => listener
                .poll_accept(cx)
                .map_ok(|(stream, _)| tcp_client(stream)),
            ListeningSocket::Unix(listener) => listener
                .poll_accept(cx)
                .map_ok(|(stream, _)| ClientStream::Unix(stream)),
        }
    }

    /// Accepts a client that has connected already. Asks the kernel directly, because the runtime may not have reported
    /// the client yet.
    pub(crate) fn accept_now(&self) -> io::Result<ClientStream> {
        let client = accept_with(self, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC)?;
        Ok(match &self.socket {
            ListeningSocket::Tcp(_) => tcp_client(TcpStream::from_std(client.into())?),
            ListeningSocket::Unix(_) => ClientStream::Unix(UnixStream::from_std(client.into())?),
        })
    }

    /// Takes over the file of a Unix socket from the old edge: this edge removes it.
    pub(crate) fn own_file(&self) {
        if self.file.borrow().is_some() || !self.bind.starts_with("unix://") {
            return;
        }
        *self.file.borrow_mut() = self.path().map(SocketFile::of);
    }

    /// Leaves the file of a Unix socket to the new edge.
    pub(crate) fn disown_file(&self) {
        if let Some(file) = self.file.borrow_mut().take() {
            file.keep();
        }
    }

    /// The address for the log and for `--ready-fd`: `http://127.0.0.1:9292`, `https://...` or `unix:///path`.
    pub fn url(&self) -> String {
        let handshake = self.preamble.handshake.as_ref();
        let scheme = handshake.map_or(Scheme::Http, |it| it.scheme()).name();
        match &self.socket {
            ListeningSocket::Tcp(listener) => listener.local_addr().map_or_else(
                |_| format!("{scheme}://?"),
                |address| format!("{scheme}://{address}"),
            ),
            ListeningSocket::Unix(_) => {
                let path = self.path();
                format!("unix://{}", path.unwrap_or(PathBuf::from("?")).display())
            }
        }
    }

    fn path(&self) -> Option<PathBuf> {
        match &self.socket {
            ListeningSocket::Tcp(_) => None,
            ListeningSocket::Unix(listener) => {
                let address = listener.local_addr().ok()?;
                address.as_pathname().map(Path::to_owned)
            }
        }
    }
}

fn tcp_client(stream: TcpStream) -> ClientStream {
    // Without the option, a response of two writes waits for the client's acknowledgement.
    let _ = stream.set_nodelay(true);
    ClientStream::Tcp(stream)
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            ListeningSocket::Tcp(listener) => listener.as_fd(),
            ListeningSocket::Unix(listener) => listener.as_fd(),
        }
    }
}

#[cfg(test)]
impl Listener {
    /// A listener whose connections begin with a request.
    pub(crate) fn plain(listener: TcpListener) -> Listener {
        Listener::new(&BindValue::default(), ListeningSocket::Tcp(listener), None)
    }
}
