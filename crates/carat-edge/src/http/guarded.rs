use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use carat_guard::{Guard, MessagePosition};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf, Take};

use super::refusal::Refusal;
use super::watch::Watch;
use crate::listen::Stream;
use crate::server::Server;

/// Bytes of further messages that are read ahead while an answer is under way.
const AHEAD_LIMIT: usize = 16 * 1024;

/// A client's connection as hyper sees it: only messages that the guard has checked, one at a time.
pub(crate) struct Guarded {
    stream: Take<Stream>,
    /// Bytes that are read at once; hyper's buffer grows only as long as reads fill it.
    read_limit: u64,
    guard: Guard,
    watch: Rc<Watch>,
    /// Bytes that were read and not handed on, at most a head and `AHEAD_LIMIT`.
    carry: BytesMut,
    /// How many bytes of `carry` the guard has passed.
    passed: usize,
}

impl Guarded {
    pub(crate) fn new(stream: Stream, server: &Server, watch: Rc<Watch>) -> Guarded {
        Guarded {
            stream: stream.take(0),
            read_limit: server.settings.body_buffer as u64,
            guard: Guard::new(server.header_limits()),
            watch,
            carry: BytesMut::new(),
            passed: 0,
        }
    }

    /// The bare connection.
    pub(crate) fn into_stream(self) -> Stream {
        self.stream.into_inner()
    }

    /// Whether the next bytes begin a message that must wait for the answer to the one before.
    fn must_hold(&self) -> bool {
        self.watch.is_answering() && self.guard.position() != MessagePosition::InBody
    }

    /// Asks the guard about `bytes`, and keeps the watch informed.
    fn pass(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let was_in_body = self.guard.position() == MessagePosition::InBody;
        let passed = self.guard.pass(bytes);
        self.watch.set_position(self.guard.position());
        match passed {
            Ok(0) => Ok(0),
            Ok(count) if was_in_body => {
                self.watch.count_body(count);
                Ok(count)
            }
            Ok(count) => {
                self.watch.begin_message();
                Ok(count)
            }
            Err(refusal) => {
                self.watch.refuse(Refusal::Malformed(refusal));
                if was_in_body {
                    Err(io::Error::from(io::ErrorKind::InvalidData))
                } else {
                    Ok(0)
                }
            }
        }
    }

    /// Like `pass`, and what has come of a body goes along with its head: hyper then needs no second
    /// read for a small one.
    fn pass_message(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let was_in_body = self.guard.position() == MessagePosition::InBody;
        let passed = self.pass(bytes)?;
        if let Some(minor) = self.guard.take_higher_minor() {
            // The version that this server speaks; hyper knows no higher one.
            bytes[minor] = b'1';
        }
        if was_in_body || self.guard.position() != MessagePosition::InBody {
            return Ok(passed);
        }
        // A refusal comes again when the rest is offered again, behind the head.
        let body = self.guard.pass(&bytes[passed..]).unwrap_or(0);
        self.watch.count_body(body);
        self.watch.set_position(self.guard.position());
        Ok(passed + body)
    }

    /// Hands on what was read before and may go now; whether there was any.
    fn hand_on(&mut self, buf: &mut ReadBuf<'_>) -> io::Result<bool> {
        if self.passed == 0
            && !self.carry.is_empty()
            && !self.must_hold()
            && self.watch.refusal().is_none()
        {
            let mut carry = std::mem::take(&mut self.carry);
            let passed = self.pass_message(&mut carry);
            self.carry = carry;
            self.passed = passed?;
            if self.passed == 0 {
                // A stray line end after a message is nothing: a parked connection forgets it, but
                // not half of one.
                self.carry.advance(self.guard.take_blank_lines());
                if !self.carry.is_empty() {
                    self.watch.set_position(MessagePosition::InHeaders);
                }
            }
        }
        let count = self.passed.min(buf.remaining());
        buf.put_slice(&self.carry[..count]);
        self.carry.advance(count);
        self.passed -= count;
        if self.carry.is_empty() && self.carry.capacity() > 0 {
            self.carry = BytesMut::new();
        }
        Ok(count > 0)
    }

    /// Reads once into `buf` and leaves there what may be handed on; `true` at the end of the stream.
    fn read_once(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<bool>> {
        let before = buf.filled().len();
        self.stream.set_limit(self.read_limit);
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        if buf.filled().len() == before {
            return Poll::Ready(Ok(true));
        }
        self.watch.hear();
        let may_pass = self.carry.is_empty() && !self.must_hold();
        let passed = if may_pass {
            self.pass_message(&mut buf.filled_mut()[before..])?
        } else {
            0
        };
        self.carry
            .extend_from_slice(&buf.filled()[before + passed..]);
        buf.set_filled(before + passed);
        Poll::Ready(Ok(false))
    }
}

impl AsyncRead for Guarded {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        loop {
            if this.hand_on(buf)? {
                return Poll::Ready(Ok(()));
            }
            if this.watch.refusal().is_some() {
                if this.must_hold() {
                    this.watch.hold(cx.waker());
                    return Poll::Pending;
                }
                // The end of the stream, for hyper: it finishes what it has to write.
                return Poll::Ready(Ok(()));
            }
            if this.must_hold() && this.carry.len() >= AHEAD_LIMIT {
                this.watch.hold(cx.waker());
                return Poll::Pending;
            }
            match this.read_once(cx, buf) {
                Poll::Pending => {
                    if this.must_hold() && !this.carry.is_empty() {
                        this.watch.hold(cx.waker());
                    }
                    return Poll::Pending;
                }
                Poll::Ready(at_end) => {
                    if at_end? || buf.filled().len() > before {
                        return Poll::Ready(Ok(()));
                    }
                }
            }
        }
    }
}

impl Guarded {
    fn note_write(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        self.watch.set_write_blocked(written.is_pending());
        if let Poll::Ready(Ok(bytes)) = written {
            self.watch.count_written(bytes);
        }
        written
    }
}

impl AsyncWrite for Guarded {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(this.stream.get_mut()).poll_write(cx, bytes);
        this.note_write(written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(this.stream.get_mut()).poll_write_vectored(cx, slices);
        this.note_write(written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// hyper ends a connection with this. The connection is closed by [`drive`](super::drive),
    /// which may still have a refusal to write.
    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
