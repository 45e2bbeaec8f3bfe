use std::io;
use std::mem::{self, MaybeUninit};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The most bytes that one direction of a tunnel moves at once, and keeps while the reader does not accept them.
pub(crate) const TUNNEL_BUFFER_LIMIT: usize = 16 * 1024;

/// A direction of a tunnel. The direction has no buffer while its reader accepts all bytes that arrive.
pub(super) struct TunnelDirection {
    /// Bytes that the reader has not taken.
    rest: Vec<u8>,
    sent: usize,
    /// Bytes that the reader has taken since `take_count`.
    taken: usize,
    stage: DirectionStage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DirectionStage {
    Open,
    /// The writer has ended, and the reader has yet to be told.
    Ending,
    Over,
}

/// The side of a direction that has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BrokenSide {
    Writer,
    Reader,
}

impl TunnelDirection {
    /// A direction that begins with these bytes.
    pub(super) fn beginning_with(rest: Vec<u8>) -> TunnelDirection {
        TunnelDirection {
            rest,
            sent: 0,
            taken: 0,
            stage: DirectionStage::Open,
        }
    }

    /// Bytes that the buffer takes.
    pub(super) fn held_bytes(&self) -> usize {
        self.rest.capacity()
    }

    /// Whether bytes wait for the reader.
    pub(super) fn is_blocked(&self) -> bool {
        !self.rest.is_empty()
    }

    /// Whether the reader knows that nothing follows.
    pub(super) fn is_over(&self) -> bool {
        self.stage == DirectionStage::Over
    }

    /// How many bytes the reader has taken since the last call.
    pub(super) fn take_count(&mut self) -> usize {
        mem::take(&mut self.taken)
    }

    /// Ends the direction: no more bytes are moved.
    pub(super) fn give_up(&mut self) {
        self.rest = Vec::new();
        self.sent = 0;
        self.stage = DirectionStage::Over;
    }

    /// Moves bytes until it has to wait for one side. Ready when the reader knows that nothing follows. `note` gets the
    /// bytes that were read.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut (impl AsyncRead + Unpin),
        reader: &mut (impl AsyncWrite + Unpin),
        mut note: impl FnMut(&[u8]),
    ) -> Poll<Result<(), BrokenSide>> {
        loop {
            ready!(self.poll_rest(cx, reader))?;
            match self.stage {
                DirectionStage::Over => return Poll::Ready(Ok(())),
                DirectionStage::Ending => {
                    // An error means that the reader is gone and need not be told.
                    let _ = ready!(Pin::new(&mut *reader).poll_shutdown(cx));
                    self.stage = DirectionStage::Over;
                    continue;
                }
                DirectionStage::Open => {}
            }
            let mut room = [MaybeUninit::uninit(); TUNNEL_BUFFER_LIMIT];
            let mut room = ReadBuf::uninit(&mut room);
            let read = ready!(Pin::new(&mut *writer).poll_read(cx, &mut room));
            read.map_err(|_| BrokenSide::Writer)?;
            let bytes = room.filled();
            if bytes.is_empty() {
                self.stage = DirectionStage::Ending;
                continue;
            }
            note(bytes);
            self.pass(cx, reader, bytes)?;
        }
    }

    /// Writes what the reader takes, and keeps the rest.
    fn pass(
        &mut self,
        cx: &mut Context<'_>,
        reader: &mut (impl AsyncWrite + Unpin),
        mut bytes: &[u8],
    ) -> Result<(), BrokenSide> {
        while !bytes.is_empty() {
            match Pin::new(&mut *reader).poll_write(cx, bytes) {
                Poll::Ready(written) => bytes = &bytes[self.note(&written)?..],
                Poll::Pending => {
                    self.rest = bytes.to_vec();
                    break;
                }
            }
        }
        Ok(())
    }

    fn poll_rest(
        &mut self,
        cx: &mut Context<'_>,
        reader: &mut (impl AsyncWrite + Unpin),
    ) -> Poll<Result<(), BrokenSide>> {
        while self.sent < self.rest.len() {
            let written = ready!(Pin::new(&mut *reader).poll_write(cx, &self.rest[self.sent..]));
            self.sent += self.note(&written)?;
        }
        self.rest = Vec::new();
        self.sent = 0;
        Poll::Ready(Ok(()))
    }

    /// Counts what the reader has taken.
    fn note(&mut self, written: &io::Result<usize>) -> Result<usize, BrokenSide> {
        match *written {
            Ok(0) | Err(_) => Err(BrokenSide::Reader),
            Ok(count) => {
                self.taken += count;
                Ok(count)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::task::Waker;

    use tokio::io::{DuplexStream, duplex};

    use super::*;

    fn poll(
        direction: &mut TunnelDirection,
        writer: &mut (impl AsyncRead + Unpin),
        reader: &mut DuplexStream,
    ) -> Poll<Result<(), BrokenSide>> {
        let mut cx = Context::from_waker(Waker::noop());
        direction.poll(&mut cx, writer, reader, |_| {})
    }

    fn read(end: &mut DuplexStream) -> Vec<u8> {
        let mut room = [0; 16 * 1024];
        let mut room = ReadBuf::new(&mut room);
        let mut cx = Context::from_waker(Waker::noop());
        // Without bytes to read, the room stays empty.
        let _ = Pin::new(end).poll_read(&mut cx, &mut room);
        room.filled().to_vec()
    }

    #[test]
    fn a_direction_keeps_at_most_its_limit_and_nothing_once_it_is_taken() {
        let sent: Vec<u8> = (0..=255).cycle().take(5 * TUNNEL_BUFFER_LIMIT).collect();
        let (mut reader, mut far) = duplex(1000);
        let mut direction = TunnelDirection::beginning_with(b"first".to_vec());
        let mut writer = Cursor::new(sent.clone());
        let mut received = Vec::new();
        while poll(&mut direction, &mut writer, &mut reader).is_pending() {
            assert!(direction.held_bytes() <= TUNNEL_BUFFER_LIMIT);
            received.extend(read(&mut far));
        }
        received.extend(read(&mut far));
        assert!(received.strip_prefix(b"first") == Some(&sent[..]));
        assert!(direction.is_over());
        assert_eq!(direction.held_bytes(), 0);
        assert_eq!(direction.take_count(), received.len());
        assert_eq!(direction.take_count(), 0);
    }

    #[test]
    fn an_idle_direction_has_no_buffer() {
        let (mut writer, mut near) = duplex(1000);
        let (mut reader, mut far) = duplex(1000);
        let mut direction = TunnelDirection::beginning_with(Vec::new());
        assert!(poll(&mut direction, &mut writer, &mut reader).is_pending());
        let mut cx = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut near).poll_write(&mut cx, b"hello").is_ready());
        assert!(poll(&mut direction, &mut writer, &mut reader).is_pending());
        assert_eq!(read(&mut far), b"hello");
        assert_eq!((direction.held_bytes(), direction.is_over()), (0, false));
    }

    #[test]
    fn a_reader_that_is_gone_breaks_the_direction() {
        let (mut reader, far) = duplex(1000);
        drop(far);
        let mut direction = TunnelDirection::beginning_with(Vec::new());
        let polled = poll(
            &mut direction,
            &mut Cursor::new(b"late".to_vec()),
            &mut reader,
        );
        assert_eq!(polled, Poll::Ready(Err(BrokenSide::Reader)));
        direction.give_up();
        assert!(direction.is_over());
    }
}
