use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use carat_guard::MessagePosition;
use h2::Reason;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::held_bytes::HeldBytes;
use crate::guard::{FrameFault, FrameGuard, SentResets};
use crate::part::client::{FIRST_ROOM, Http2Client};
use carat_exchange::{ConnectionState, MemoryReservation};

/// The most bytes that are read in a turn while memory is short: h2 decodes them before they can be counted.
const SHORT_READ: usize = 8 * 1024;

/// The most bytes that are read in a turn while memory is used up. So few bytes contain only a few requests, each of
/// which makes h2's tables grow.
const LEAST_READ: usize = 128;

/// A client's connection as h2 sees it. Its frames are counted as they arrive.
pub(crate) struct FramedStream {
    /// Bytes that were read before it was known that the client speaks HTTP/2.
    leading: Bytes,
    seen: Box<SeenFrames>,
    held: HeldBytes,
    fault: Rc<Cell<Option<FrameFault>>>,
    client: Rc<Http2Client>,
    /// The memory of h2's buffer beyond `FIRST_ROOM`: the buffer keeps a frame until it is
    /// complete.
    room: MemoryReservation,
    /// Whether the turn of this connection is over, because memory is short.
    gives_way: bool,
}

/// The record of the frames seen in both directions. Boxed: h2 moves its stream from one future to another, and
/// each has room for it.
struct SeenFrames {
    frames: FrameGuard,
    resets: SentResets,
}

impl FramedStream {
    /// The connection of a client. Once the client's frames have a `fault`, nothing is read any
    /// more.
    pub(crate) fn new(
        leading: Bytes,
        fault: &Rc<Cell<Option<FrameFault>>>,
        client: &Rc<Http2Client>,
    ) -> FramedStream {
        client.state.body.set_position(MessagePosition::InHeaders);
        FramedStream {
            leading,
            seen: Box::new(SeenFrames {
                frames: FrameGuard::new(client.core.deadlines().now()),
                resets: SentResets::default(),
            }),
            held: HeldBytes::new(MemoryReservation::of(client.state.memory())),
            fault: Rc::clone(fault),
            room: MemoryReservation::of(client.state.memory()),
            client: Rc::clone(client),
            gives_way: false,
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

    /// Reads a few bytes. The next call reads nothing, so that the requests that came are counted
    /// or refused, and other connections have their turn.
    fn read_short(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if std::mem::take(&mut self.gives_way) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut part = [0; SHORT_READ];
        let most = if self.client.core.client_memory().has_rest(0) {
            SHORT_READ
        } else {
            LEAST_READ
        };
        let mut part = ReadBuf::new(&mut part[..buf.remaining().min(most)]);
        ready!(self.read(cx, &mut part))?;
        buf.put_slice(part.filled());
        self.gives_way = true;
        Poll::Ready(Ok(()))
    }

    /// Counts the memory of h2's buffer, which stays as large as the largest frame has made it.
    fn count_room(&mut self, room: usize) {
        let beyond = room.saturating_sub(FIRST_ROOM);
        if beyond as u64 > self.room.bytes() {
            self.room.set(beyond);
        }
    }

    /// Notes whether a request has begun. A part of a frame, or of a TLS record, counts as the
    /// beginning of a request, and has the same timeout.
    fn note_position(&self) {
        let is_in_frame = !self.held.is_empty()
            || self.seen.frames.is_in_frame()
            || self.client.stream.borrow().is_in_record();
        self.state().body.set_position(if is_in_frame {
            MessagePosition::InHeaders
        } else {
            MessagePosition::BetweenMessages
        });
    }

    /// Checks and mends what the client has sent. Returns how many bytes h2 may have at once: none
    /// of those after a fault.
    fn admit(&mut self, received: &mut [u8]) -> usize {
        self.state().bytes.count_received(received.len());
        let now = self.client.core.deadlines().now();
        let pieces = self.client.unsent.take_complete();
        self.seen.frames.note_pieces(pieces);
        let (frames, fault) = (&mut self.seen.frames, &self.fault);
        self.held.admit(received, |bytes| {
            frames.pass(bytes, now).unwrap_or_else(|(found, before)| {
                fault.set(Some(found));
                before
            })
        })
    }

    /// Notes what the client was sent: the bytes of `slices`, as far as the socket has taken them.
    fn note_written(&mut self, written: &Poll<io::Result<usize>>, slices: &[io::IoSlice<'_>]) {
        let Http2Client {
            state,
            unsent,
            protocol,
            peer,
            ..
        } = &*self.client;
        state.set_write_blocked(written.is_pending());
        unsent.set_blocked(written.is_pending());
        let Poll::Ready(Ok(bytes)) = *written else {
            return;
        };
        state.bytes.count_written(bytes);
        self.seen.frames.note_sent(bytes);
        let mut left = bytes;
        for slice in slices {
            let taken = left.min(slice.len());
            left -= taken;
            self.seen.resets.pass(&slice[..taken], |code| {
                protocol.note_reset(peer, Reason::from(code));
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
        loop {
            if this.held.hand_out(buf) {
                return Poll::Ready(Ok(()));
            }
            if this.fault.get().is_some() {
                return Poll::Pending;
            }
            let before = buf.filled().len();
            this.count_room(buf.remaining());
            let read = if this.client.core.client_memory().is_short() {
                this.read_short(cx, buf)
            } else {
                this.read(cx, buf)
            };
            if read.is_pending() {
                this.note_position();
            }
            ready!(read)?;
            let received = &mut buf.filled_mut()[before..];
            let is_end = received.is_empty();
            let admitted = this.admit(received);
            buf.set_filled(before + admitted);
            if is_end || admitted > 0 {
                this.note_position();
                return Poll::Ready(Ok(()));
            }
        }
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

    /// Does nothing: h2 calls this at the end of a connection, and `serve_connection` closes the
    /// socket.
    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::net::UnixStream;

    use super::*;
    use crate::part::client::CONNECTION_COST;
    use crate::part::http2::Http2;
    use carat_exchange::{ClientMemory, Peer};
    use carat_http::{ClientStream, Server};

    #[tokio::test]
    async fn the_room_that_a_frame_takes_counts_as_long_as_the_connection() {
        let memory = ClientMemory::new(u64::MAX);
        let (_peer, stream) = UnixStream::pair().expect("sockets");
        let peer = Rc::new(Peer::new("127.0.0.1".to_owned(), true, 80, None));
        let server = Server::plain(&memory);
        let protocol = Rc::new(Http2::new(server.settings()));
        let client = Http2Client::new(ClientStream::Unix(stream), peer, server, protocol);
        let mut framed = FramedStream::new(Bytes::new(), &Rc::default(), &client);
        for room in [FIRST_ROOM, 4 * FIRST_ROOM, FIRST_ROOM] {
            let mut room = vec![0; room];
            let mut room = ReadBuf::new(&mut room);
            let read = poll_fn(|cx| Poll::Ready(Pin::new(&mut framed).poll_read(cx, &mut room)));
            assert!(read.await.is_pending());
        }
        let held = CONNECTION_COST + 3 * FIRST_ROOM;
        assert_eq!(memory.used(), held as u64);
        drop((framed, client));
        assert_eq!(memory.used(), 0);
    }
}
