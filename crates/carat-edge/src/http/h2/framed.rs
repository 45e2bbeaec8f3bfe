use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use carat_guard::{FrameFlood, FrameGuard, MessagePosition};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::super::deadlines::Deadlines;
use super::super::stream::ClientStream;
use crate::exchange::ConnectionState;

/// A client's connection as h2 sees it. Its frames are counted as they arrive.
pub(super) struct FramedStream {
    stream: Rc<RefCell<ClientStream>>,
    /// Bytes that were read before it was known that the client speaks HTTP/2.
    leading: Bytes,
    frames: FrameGuard,
    flood: Rc<Cell<Option<FrameFlood>>>,
    state: Rc<ConnectionState>,
    deadlines: Rc<Deadlines>,
}

impl FramedStream {
    /// `flood` is set when the client sends too many frames of a kind. Nothing is read then.
    pub(super) fn new(
        stream: &Rc<RefCell<ClientStream>>,
        leading: Bytes,
        flood: &Rc<Cell<Option<FrameFlood>>>,
        state: &Rc<ConnectionState>,
        deadlines: &Rc<Deadlines>,
    ) -> FramedStream {
        state.set_position(MessagePosition::InHeaders);
        FramedStream {
            stream: Rc::clone(stream),
            leading,
            frames: FrameGuard::new(deadlines.now()),
            flood: Rc::clone(flood),
            state: Rc::clone(state),
            deadlines: Rc::clone(deadlines),
        }
    }

    fn read(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.leading.is_empty() {
            return Pin::new(&mut *self.stream.borrow_mut()).poll_read(cx, buf);
        }
        let count = self.leading.len().min(buf.remaining());
        buf.put_slice(&self.leading[..count]);
        self.leading.advance(count);
        Poll::Ready(Ok(()))
    }

    /// A part of a frame, or of a TLS record, is the beginning of a request, with the same timeout.
    fn note_position(&self) {
        let is_in_frame = self.frames.is_in_frame() || self.stream.borrow().is_in_record();
        self.state.set_position(if is_in_frame {
            MessagePosition::InHeaders
        } else {
            MessagePosition::BetweenMessages
        });
    }

    fn note_written(&mut self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        self.state.set_write_blocked(written.is_pending());
        if let Poll::Ready(Ok(bytes)) = written {
            self.state.count_written(bytes);
            self.frames.note_sent(bytes);
        }
        written
    }
}

impl AsyncRead for FramedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.flood.get().is_some() {
            return Poll::Pending;
        }
        let before = buf.filled().len();
        let read = this.read(cx, buf);
        if read.is_pending() {
            this.note_position();
        }
        ready!(read)?;
        let received = &buf.filled()[before..];
        this.state.count_received(received.len());
        if let Err(flood) = this.frames.pass(received, this.deadlines.now()) {
            this.flood.set(Some(flood));
            buf.set_filled(before);
            return Poll::Pending;
        }
        this.note_position();
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for FramedStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut *this.stream.borrow_mut()).poll_write(cx, bytes);
        this.note_written(written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut *this.stream.borrow_mut()).poll_write_vectored(cx, slices);
        this.note_written(written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// h2 ends a connection with this. `serve_connection` closes it.
    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
