use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use carat_guard::{BlockFault, FrameGuard, GuardError, HeaderBlocks, MessagePosition, SentResets};
use h2::Reason;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::client::Http2Client;
use super::frame_notes::FrameNotes;
use crate::exchange::{ConnectionState, Refusal};

/// A client's connection as h2 sees it. Its frames are counted as they arrive.
pub(super) struct FramedStream {
    /// Bytes that were read before it was known that the client speaks HTTP/2.
    leading: Bytes,
    seen: Box<SeenFrames>,
    notes: Rc<FrameNotes>,
    client: Rc<Http2Client>,
}

/// What was seen of the frames in both directions. Boxed: h2 moves its stream from one future to another, and each has room
/// for it.
struct SeenFrames {
    frames: FrameGuard,
    blocks: HeaderBlocks,
    resets: SentResets,
}

impl FramedStream {
    /// Once `notes` has a flood, nothing is read any more.
    pub(super) fn new(
        leading: Bytes,
        notes: &Rc<FrameNotes>,
        client: &Rc<Http2Client>,
    ) -> FramedStream {
        client.state.set_position(MessagePosition::InHeaders);
        FramedStream {
            leading,
            seen: Box::new(SeenFrames {
                frames: FrameGuard::new(client.server.deadlines.now()),
                blocks: HeaderBlocks::new(client.server.settings.max_header_bytes),
                resets: SentResets::default(),
            }),
            notes: Rc::clone(notes),
            client: Rc::clone(client),
        }
    }

    fn state(&self) -> &ConnectionState {
        &self.client.state
    }

    fn read(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.leading.is_empty() {
            return Pin::new(&mut *self.client.stream.borrow_mut()).poll_read(cx, buf);
        }
        let count = self.leading.len().min(buf.remaining());
        buf.put_slice(&self.leading[..count]);
        self.leading.advance(count);
        Poll::Ready(Ok(()))
    }

    /// A part of a frame, or of a TLS record, is the beginning of a request, with the same timeout.
    fn note_position(&self) {
        let is_in_frame =
            self.seen.frames.is_in_frame() || self.client.stream.borrow().is_in_record();
        self.state().set_position(if is_in_frame {
            MessagePosition::InHeaders
        } else {
            MessagePosition::BetweenMessages
        });
    }

    /// Looks at what the client has sent. Returns `false` when it is too much of a kind.
    fn admits(&mut self, received: &[u8]) -> bool {
        self.state().count_received(received.len());
        let now = self.client.server.deadlines.now();
        if let Err(flood) = self.seen.frames.pass(received, now) {
            self.notes.note_flood(flood);
        }
        let Http2Client { server, peer, .. } = &*self.client;
        let notes = &self.notes;
        self.seen
            .blocks
            .pass(received, |stream, fault| match fault {
                BlockFault::Fragment => notes.note_fragment(stream),
                BlockFault::TooLarge => {
                    let refusal = Refusal::Malformed(GuardError::HeaderTooLarge);
                    server.access_log.refused(peer, refusal);
                }
            });
        notes.flood().is_none()
    }

    /// Looks at what the client was sent, in `slices` and as far as the socket has taken it.
    fn note_written(&mut self, written: &Poll<io::Result<usize>>, slices: &[io::IoSlice<'_>]) {
        let Http2Client {
            state,
            unsent,
            server,
            peer,
            ..
        } = &*self.client;
        state.set_write_blocked(written.is_pending());
        unsent.set_blocked(written.is_pending());
        let Poll::Ready(Ok(bytes)) = *written else {
            return;
        };
        state.count_written(bytes);
        self.seen.frames.note_sent(bytes);
        let mut left = bytes;
        for slice in slices {
            let taken = left.min(slice.len());
            left -= taken;
            self.seen.resets.pass(&slice[..taken], |code| {
                server.http2.note_reset(peer, Reason::from(code));
            });
        }
    }
}

impl AsyncRead for FramedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.notes.flood().is_some() {
            return Poll::Pending;
        }
        let before = buf.filled().len();
        let read = this.read(cx, buf);
        if read.is_pending() {
            this.note_position();
        }
        ready!(read)?;
        if !this.admits(&buf.filled()[before..]) {
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
        let written = Pin::new(&mut *this.client.stream.borrow_mut()).poll_write(cx, bytes);
        this.note_written(&written, &[io::IoSlice::new(bytes)]);
        written
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written =
            Pin::new(&mut *this.client.stream.borrow_mut()).poll_write_vectored(cx, slices);
        this.note_written(&written, slices);
        written
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
