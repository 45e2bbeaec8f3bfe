use std::io;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::task::{Context, Poll, ready};

use carat_link::{Fill, Flush, Inbox, Outbox};
use tokio::io::Interest;
use tokio::net::UnixStream;

/// The edge's end of a lane or a control socket.
pub trait FrameTransport {
    /// Reads once into `inbox`. Returns `false` when the other side closed the socket.
    fn poll_fill(&self, cx: &mut Context<'_>, inbox: &mut Inbox) -> Poll<io::Result<bool>>;

    /// Sends `outbox` until it is empty.
    fn poll_flush(&self, cx: &mut Context<'_>, outbox: &mut Outbox) -> Poll<io::Result<()>>;
}

/// A socket that tokio waits for.
pub struct FrameSocket(UnixStream);

impl FrameSocket {
    /// Takes the edge's end of a lane. Fails when the runtime cannot watch it.
    pub fn new(socket: StdUnixStream) -> io::Result<FrameSocket> {
        socket.set_nonblocking(true)?;
        UnixStream::from_std(socket).map(FrameSocket)
    }
}

impl FrameTransport for FrameSocket {
    fn poll_fill(&self, cx: &mut Context<'_>, inbox: &mut Inbox) -> Poll<io::Result<bool>> {
        loop {
            ready!(self.0.poll_read_ready(cx))?;
            let mut filled = None;
            let read = self
                .0
                .try_io(Interest::READABLE, || match inbox.fill(&self.0)? {
                    Fill::Blocked => Err(io::ErrorKind::WouldBlock.into()),
                    fill => {
                        filled = Some(fill);
                        // Marking an emptied socket as not ready saves a read that would block.
                        let emptied = matches!(fill, Fill::Bytes { emptied: true, .. });
                        if emptied {
                            Err(io::ErrorKind::WouldBlock.into())
                        } else {
                            Ok(())
                        }
                    }
                });
            match (filled, read) {
                (Some(fill), _) => return Poll::Ready(Ok(fill != Fill::Closed)),
                (None, Err(error)) if error.kind() != io::ErrorKind::WouldBlock => {
                    return Poll::Ready(Err(error));
                }
                (None, _) => {}
            }
        }
    }

    fn poll_flush(&self, cx: &mut Context<'_>, outbox: &mut Outbox) -> Poll<io::Result<()>> {
        while !outbox.is_empty() {
            ready!(self.0.poll_write_ready(cx))?;
            let sent = self
                .0
                .try_io(Interest::WRITABLE, || match outbox.flush(&self.0)? {
                    Flush::Done => Ok(()),
                    Flush::Blocked => Err(io::ErrorKind::WouldBlock.into()),
                });
            match sent {
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                    return Poll::Ready(Err(error));
                }
                _ => {}
            }
        }
        Poll::Ready(Ok(()))
    }
}
