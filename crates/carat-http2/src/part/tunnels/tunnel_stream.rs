use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use h2::{RecvStream, SendStream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::part::client::Http2Client;
use crate::part::http2::UPLOAD_WINDOW;
use crate::part::unsent_bytes::SentPiece;

/// A stream of HTTP/2 that is read and written like a connection.
pub(crate) struct TunnelStream<'a> {
    from_client: RecvStream,
    /// Bytes that have arrived and were not read.
    pending: Bytes,
    to_client: SendStream<SentPiece>,
    has_ended: bool,
    client: &'a Http2Client,
}

impl<'a> TunnelStream<'a> {
    pub(crate) fn new(
        from_client: RecvStream,
        to_client: SendStream<SentPiece>,
        client: &'a Http2Client,
    ) -> TunnelStream<'a> {
        TunnelStream {
            from_client,
            pending: Bytes::new(),
            to_client,
            has_ended: false,
            client,
        }
    }

    /// Waits until there are bytes, or the client has ended its direction. Returns whether there are bytes.
    fn poll_pending(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        while self.pending.is_empty() {
            match ready!(self.from_client.poll_data(cx)) {
                Some(Ok(piece)) => self.pending = piece,
                Some(Err(error)) => return Poll::Ready(Err(io::Error::other(error))),
                None => return Poll::Ready(Ok(false)),
            }
        }
        Poll::Ready(Ok(true))
    }

    /// Waits until the client and the socket take bytes. Returns how many.
    fn poll_room(&mut self, wanted: usize, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.client.unsent.is_full(cx) {
            return Poll::Pending;
        }
        self.to_client.reserve_capacity(wanted);
        let room = self.to_client.capacity();
        if room > 0 {
            return Poll::Ready(Ok(room));
        }
        let room = ready!(self.to_client.poll_capacity(cx));
        Poll::Ready(match room {
            Some(room) => room.map_err(io::Error::other),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        })
    }

    fn send(&mut self, bytes: Bytes) -> io::Result<()> {
        let piece = self.client.unsent.piece(bytes);
        let sent = self.to_client.send_data(piece, self.has_ended);
        sent.map_err(io::Error::other)
    }
}

impl AsyncRead for TunnelStream<'_> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if ready!(this.poll_pending(cx))? {
            let count = this.pending.len().min(buf.remaining());
            buf.put_slice(&this.pending[..count]);
            this.pending.advance(count);
            // A stream that is over has no window to open.
            let _ = this.from_client.flow_control().release_capacity(count);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for TunnelStream<'_> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let room = ready!(this.poll_room(bytes.len(), cx))?;
        let count = room.min(bytes.len());
        this.send(Bytes::copy_from_slice(&bytes[..count]))?;
        if count == bytes.len() {
            this.client.unsent.note_complete();
        }
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Ends the stream, in this direction.
    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.has_ended {
            return Poll::Ready(Ok(()));
        }
        this.has_ended = true;
        Poll::Ready(this.send(Bytes::new()))
    }
}

impl TunnelClient for TunnelStream<'_> {
    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.to_client.poll_reset(cx).map(|_| ())
    }

    fn poll_readable(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_pending(cx).map_ok(|_| ())
    }

    /// Bytes that the stream holds. While it is held back, nothing is read, and the client may fill
    /// its window.
    fn held_bytes(&mut self, is_held_back: bool) -> usize {
        if is_held_back {
            UPLOAD_WINDOW as usize
        } else {
            self.from_client.flow_control().used_capacity()
        }
    }
}
use carat_http::TunnelClient;
