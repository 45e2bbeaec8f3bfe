//! The contract between the core and the transports. A transport is a layer between the socket and the requests of a
//! client, such as encryption. The core opens the one whose scheme an address of `bind` has, and knows none by name.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use carat_exchange::{ClientMemory, Peer, Refusal};
use carat_wire::Scheme;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::time_limits::Deadline;

/// A kind of connection other than a bare socket. A build without transports serves bare sockets only.
pub trait Transport {
    /// The scheme of the transport's addresses. The schemes `tcp`, `unix`, and `fd` belong to the core.
    fn scheme(&self) -> &'static str;

    /// Prepares a listener. `parameters` are the names and values of its address that the core does not know, in their
    /// order. May read files. The error is one sentence.
    fn open(&self, parameters: &[(String, String)]) -> Result<Rc<dyn Handshake>, String>;
}

/// The beginning of the connections of one listener, before their first request.
pub trait Handshake {
    /// The scheme of the requests that follow.
    fn scheme(&self) -> Scheme;

    /// Begins a connection. May add variables about the client to its `Peer`.
    fn begin<'a>(&'a self, socket: TcpStream, start: ConnectionStart<'a>) -> HandshakeWait<'a>;
}

/// The wait for the end of a handshake.
pub type HandshakeWait<'a> = Pin<Box<dyn Future<Output = HandshakeEnd> + 'a>>;

/// The outcome of a handshake.
pub enum HandshakeEnd {
    /// Requests follow.
    Established(Box<dyn WrappedStream>),
    /// The client gets a refusal in clear, on the socket below.
    Refused(TcpStream, Refusal),
    /// The connection is over.
    Over,
}

/// The client's side of a connection through a transport.
pub trait WrappedStream: AsyncRead + AsyncWrite + Unpin {
    /// The socket below.
    fn socket(&self) -> &TcpStream;

    /// The protocol that the client has chosen in the handshake, by its token (RFC 7301). `None` for HTTP/1.1.
    fn protocol(&self) -> Option<&'static str>;

    /// Bytes that the buffers take.
    fn held_bytes(&self) -> usize;

    /// Whether only a part of a record has arrived. The bytes of a record can only be read together.
    fn is_in_record(&self) -> bool;

    /// Ready when there is something to read, or the client is gone.
    fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
}

/// A connection before its first request, as a transport sees it.
pub struct ConnectionStart<'a> {
    /// The two ends of the connection.
    pub peer: &'a mut Peer,
    /// The deadline of the connection.
    pub deadline: &'a Rc<Deadline>,
    /// The memory that clients make the edge hold.
    pub memory: &'a Rc<ClientMemory>,
    /// Reports the result of the handshake to the parts.
    pub note: &'a dyn Fn(&'static str),
    /// Whether the server stops, and waits for no first request any more.
    pub(crate) is_given_up: &'a dyn Fn() -> bool,
}

/// Why a wait at the start of a connection was ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartEnd {
    /// The deadline has passed.
    TimedOut,
    /// The server stops.
    GivenUp,
}

impl ConnectionStart<'_> {
    /// Waits until `poll` is ready, the deadline passes, or the server waits no longer.
    pub async fn in_time<T>(
        &self,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Result<T, StartEnd> {
        poll_fn(|cx| {
            if let Poll::Ready(result) = poll(cx) {
                return Poll::Ready(Ok(result));
            }
            if self.deadline.passed(cx.waker()) {
                return Poll::Ready(Err(StartEnd::TimedOut));
            }
            if (self.is_given_up)() {
                return Poll::Ready(Err(StartEnd::GivenUp));
            }
            Poll::Pending
        })
        .await
    }
}
