use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;

use carat_exchange::{EdgeApplication, TunnelApplication};

/// The far end of a tunnel: a socket of a worker, or a part of the edge.
pub enum Application {
    /// A worker, behind a socket.
    Worker(UnixStream),
    /// A part of the edge.
    Edge(Box<dyn EdgeApplication>),
}

impl Application {
    /// Opens the far end of a tunnel. It belongs to the runtime from now on.
    pub fn open(application: TunnelApplication) -> io::Result<Application> {
        Ok(match application {
            TunnelApplication::Worker(socket) => {
                socket.set_nonblocking(true)?;
                Application::Worker(UnixStream::from_std(socket)?)
            }
            TunnelApplication::Edge(edge) => Application::Edge(edge),
        })
    }

    /// Whether the application has closed its socket, and not only its direction. A socket that was half closed before
    /// reports no event when it is closed.
    pub(crate) fn is_hung_up(&self) -> bool {
        let Application::Worker(socket) = self else {
            return true;
        };
        let mut polled = [PollFd::new(socket, PollFlags::empty())];
        poll(&mut polled, Some(&Timespec::default())).is_ok()
            && polled[0].revents().contains(PollFlags::HUP)
    }

    /// The bytes that the application holds for the client.
    pub(crate) fn held_bytes(&self) -> usize {
        self.edge().map_or(0, EdgeApplication::held_bytes)
    }

    /// Asks the application for the memory that it holds for the client, because others need it. Returns whether a part
    /// of the edge has just told the client to leave.
    pub(crate) fn make_room(&mut self) -> bool {
        match self {
            Application::Edge(edge) if edge.end().is_none() => {
                edge.make_room();
                true
            }
            Application::Edge(_) | Application::Worker(_) => false,
        }
    }

    /// The part of the edge that the tunnel leads to, if it does.
    pub(crate) fn edge(&self) -> Option<&dyn EdgeApplication> {
        match self {
            Application::Worker(_) => None,
            Application::Edge(edge) => Some(&**edge),
        }
    }
}

impl AsyncRead for Application {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Application::Worker(socket) => Pin::new(socket).poll_read(cx, buf),
            Application::Edge(edge) => Pin::new(edge).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Application {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Application::Worker(socket) => Pin::new(socket).poll_write(cx, bytes),
            Application::Edge(edge) => Pin::new(edge).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Application::Worker(socket) => Pin::new(socket).poll_flush(cx),
            Application::Edge(edge) => Pin::new(edge).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Application::Worker(socket) => Pin::new(socket).poll_shutdown(cx),
            Application::Edge(edge) => Pin::new(edge).poll_shutdown(cx),
        }
    }
}
