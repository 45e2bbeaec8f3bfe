use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::sendfile;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, sendmsg};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::OwnedSemaphorePermit;

use carat_exchange::Peer;

use crate::sockets::transport::WrappedStream;

/// The silence of a client after which the kernel probes whether the client is still there.
const KEEP_ALIVE_IDLE: Duration = Duration::from_secs(60);
/// The time between two probes of a silent client.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// The unanswered probes after which a silent client counts as gone.
const KEEP_ALIVE_PROBES: u32 = 4;

/// A client's connection.
pub enum ClientStream {
    /// A connection over TCP.
    Tcp(TcpStream),
    /// A connection over a Unix socket.
    Unix(UnixStream),
    /// A connection through a transport, such as encryption.
    Wrapped(Box<dyn WrappedStream>),
}

impl ClientStream {
    /// The two ends of the connection, with the permit to open the file of a response.
    pub(crate) fn peer(&self, address: Option<IpAddr>, reply: OwnedSemaphorePermit) -> Peer {
        // A client on a Unix socket is on this machine.
        let remote = address.map_or_else(|| "127.0.0.1".to_owned(), |at| at.to_string());
        Peer::new(remote, self.is_unix(), self.local_port(), Some(reply))
    }

    /// Whether the connection came over a Unix socket.
    pub(crate) fn is_unix(&self) -> bool {
        matches!(self, ClientStream::Unix(_))
    }

    /// The peer's address; `None` on a Unix socket. If the peer is gone already, the address is 0.0.0.0, which belongs
    /// to nobody.
    pub(crate) fn remote_address(&self) -> Option<IpAddr> {
        let address = self.tcp()?.peer_addr();
        let address = address.map(|address| address.ip().to_canonical());
        Some(address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
    }

    fn local_port(&self) -> u16 {
        let address = self.tcp().and_then(|stream| stream.local_addr().ok());
        address.map_or(80, |address| address.port())
    }

    fn tcp(&self) -> Option<&TcpStream> {
        match self {
            ClientStream::Tcp(stream) => Some(stream),
            ClientStream::Wrapped(stream) => Some(stream.socket()),
            ClientStream::Unix(_) => None,
        }
    }

    /// Makes the kernel probe whether a silent client is still there. Used for all clients that may be idle without a
    /// deadline.
    pub fn keep_alive(&self) {
        if let Some(stream) = self.tcp() {
            let probes = TcpKeepalive::new()
                .with_time(KEEP_ALIVE_IDLE)
                .with_interval(KEEP_ALIVE_INTERVAL)
                .with_retries(KEEP_ALIVE_PROBES);
            // Without the option, a client that vanished is noticed when something is sent.
            let _ = SockRef::from(stream).set_tcp_keepalive(&probes);
        }
    }

    /// Whether a transport lies between the server and the socket, as with encryption.
    pub(crate) fn is_wrapped(&self) -> bool {
        matches!(self, ClientStream::Wrapped(_))
    }

    /// The name of the protocol that the client has chosen before its first request. `None` for HTTP/1.1.
    pub(crate) fn protocol(&self) -> Option<&'static str> {
        match self {
            ClientStream::Wrapped(stream) => stream.protocol(),
            ClientStream::Tcp(_) | ClientStream::Unix(_) => None,
        }
    }

    /// Bytes that the buffers of a transport take.
    pub(crate) fn held_bytes(&self) -> usize {
        match self {
            ClientStream::Wrapped(stream) => stream.held_bytes(),
            ClientStream::Tcp(_) | ClientStream::Unix(_) => 0,
        }
    }

    /// Whether only a part of a record has arrived, so that the transport cannot pass on any bytes of it yet.
    pub fn is_in_record(&self) -> bool {
        match self {
            ClientStream::Wrapped(stream) => stream.is_in_record(),
            ClientStream::Tcp(_) | ClientStream::Unix(_) => false,
        }
    }

    /// Closes the connection with a reset. The client then does not mistake a part for the complete response, and the
    /// kernel buffers nothing for it.
    pub(crate) fn reset(self) {
        if let Some(stream) = self.tcp() {
            // Without the option the connection is closed normally.
            let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
        }
    }

    /// Whether the client has closed the connection, or its direction, even if bytes of the client are unread.
    pub(crate) fn is_closed_by_client(&self) -> bool {
        let descriptor = match self {
            ClientStream::Tcp(stream) => stream.as_fd(),
            ClientStream::Unix(stream) => stream.as_fd(),
            ClientStream::Wrapped(stream) => stream.socket().as_fd(),
        };
        let closed = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        let mut polled = [PollFd::from_borrowed_fd(descriptor, PollFlags::RDHUP)];
        poll(&mut polled, Some(&Timespec::default())).is_ok()
            && polled[0].revents().intersects(closed)
    }

    /// Copies the bytes that have arrived into `buf`, and leaves them in the socket.
    pub(crate) fn poll_peek(
        &self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.poll_readable(cx))?;
            match self.receive(buf, RecvFlags::PEEK) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                received => return Poll::Ready(received),
            }
        }
    }

    /// Fills `buf` with bytes that have arrived.
    pub(crate) fn take(&self, buf: &mut [u8]) -> io::Result<()> {
        let received = self.receive(buf, RecvFlags::empty())?;
        if received == buf.len() {
            Ok(())
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }

    fn receive(&self, buf: &mut [u8], flags: RecvFlags) -> io::Result<usize> {
        match (self, self.tcp()) {
            (ClientStream::Unix(stream), _) => {
                stream.try_io(Interest::READABLE, || Ok(recv(stream, buf, flags)?.0))
            }
            (_, Some(stream)) => {
                stream.try_io(Interest::READABLE, || Ok(recv(stream, buf, flags)?.0))
            }
            (_, None) => Ok(0),
        }
    }

    /// Writes bytes that are followed by more at once, so that the kernel may wait for these. Only for bare sockets.
    pub(crate) fn poll_write_more(
        &self,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_by(cx, |socket| {
            let mut control = SendAncillaryBuffer::default();
            sendmsg(socket, slices, &mut control, SendFlags::MORE)
        })
    }

    /// Sends bytes of a file, without a copy of them in this process. Only for bare sockets.
    pub(crate) fn poll_send_file(
        &self,
        cx: &mut Context<'_>,
        file: &File,
        mut offset: u64,
        count: usize,
    ) -> Poll<io::Result<usize>> {
        self.poll_write_by(cx, |socket| {
            sendfile(socket, file, Some(&mut offset), count)
        })
    }

    /// Calls `write` when the socket accepts bytes.
    fn poll_write_by(
        &self,
        cx: &mut Context<'_>,
        mut write: impl FnMut(BorrowedFd<'_>) -> rustix::io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            let written = match self {
                ClientStream::Tcp(stream) => {
                    ready!(stream.poll_write_ready(cx))?;
                    stream.try_io(Interest::WRITABLE, || Ok(write(stream.as_fd())?))
                }
                ClientStream::Unix(stream) => {
                    ready!(stream.poll_write_ready(cx))?;
                    stream.try_io(Interest::WRITABLE, || Ok(write(stream.as_fd())?))
                }
                ClientStream::Wrapped(_) => Err(io::ErrorKind::Unsupported.into()),
            };
            match written {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                written => return Poll::Ready(written),
            }
        }
    }

    /// Ready when there is something to read, or the client is gone.
    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            ClientStream::Tcp(stream) => stream.poll_read_ready(cx),
            ClientStream::Unix(stream) => stream.poll_read_ready(cx),
            ClientStream::Wrapped(stream) => stream.poll_readable(cx),
        }
    }
}

macro_rules! either {
    ($self:ident, $stream:ident => $call:expr) => {
        match $self.get_mut() {
            ClientStream::Tcp($stream) => $call,
            ClientStream::Unix($stream) => $call,
            ClientStream::Wrapped($stream) => $call,
        }
    };
}

impl AsyncRead for ClientStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        either!(self, stream => Pin::new(stream).poll_read(cx, buf))
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        either!(self, stream => Pin::new(stream).poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        either!(self, stream => Pin::new(stream).poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => Pin::new(stream).poll_shutdown(cx))
    }
}
