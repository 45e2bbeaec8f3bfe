use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use carat_guard::{Guard, MessagePosition};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf, Take};

use crate::connections::file_write::write_with_file;
use crate::parts::{Protocol, Protocols};
use crate::server::Server;
use crate::sockets::ClientStream;
use carat_exchange::{ConnectionState, MemoryReservation, MemoryWait, Refusal, clock};

/// How many bytes of further messages are read while a request is served.
const AHEAD_LIMIT: usize = 16 * 1024;

/// The memory of an active connection: hyper's first buffers, the tasks, and the smallest request and response.
const ACTIVE_COST: usize = 16 * 1024;

/// The size of hyper's first buffer. While memory is short, a read does not fill it, so that it does not grow.
const FIRST_BUFFER: usize = 8 * 1024;

/// The first size of `carry`, for headers that one read did not complete; it doubles.
const CARRY_START: usize = 8 * 1024;

/// A client's connection as hyper sees it: messages that the guard has checked, one at a time.
pub(crate) struct GuardedStream {
    stream: Take<ClientStream>,
    /// Bytes that are read at once; hyper grows its buffer only while reads fill it.
    read_limit: u64,
    guard: Guard,
    state: Rc<ConnectionState>,
    protocols: Protocols,
    /// Whether the connection may turn out to speak another protocol.
    may_switch: bool,
    /// The other protocol that the client has turned out to speak.
    protocol: Option<Rc<dyn Protocol>>,
    /// Bytes that were read and not passed on: at most the headers of a message and `AHEAD_LIMIT`.
    carry: BytesMut,
    /// How many bytes of `carry` the guard has passed.
    passed: usize,
    /// The memory of hyper's buffers.
    buffers: MemoryReservation,
    /// The memory of `carry`; once hyper has the headers that were in it, the memory of those headers.
    headers: MemoryReservation,
    /// Set while `carry` has to wait for memory.
    memory_wait: Option<MemoryWait>,
}

impl GuardedStream {
    pub(crate) fn new(
        stream: ClientStream,
        server: &Server,
        state: Rc<ConnectionState>,
        may_switch: bool,
    ) -> GuardedStream {
        let mut buffers = MemoryReservation::of(state.memory());
        buffers.grow(ACTIVE_COST);
        if !stream.is_wrapped() {
            state.outgoing.allow();
        }
        GuardedStream {
            buffers,
            headers: MemoryReservation::of(state.memory()),
            memory_wait: None,
            stream: stream.take(0),
            read_limit: server.settings.body_buffer as u64,
            guard: Guard::new(server.header_limits()),
            state,
            protocols: server.protocols.clone(),
            may_switch,
            protocol: None,
            carry: BytesMut::new(),
            passed: 0,
        }
    }

    /// The protocol with whose preface the connection began; `None` for HTTP/1.1.
    pub(crate) fn take_protocol(&mut self) -> Option<Rc<dyn Protocol>> {
        self.protocol.take()
    }

    /// The bare connection, and the bytes beyond the last message.
    pub(crate) fn into_parts(self) -> (ClientStream, BytesMut) {
        (self.stream.into_inner(), self.carry)
    }

    /// Whether a body has not arrived completely.
    pub(crate) fn is_in_body(&self) -> bool {
        self.guard.position() == MessagePosition::InBody
    }

    /// Whether the next bytes begin a message that must wait for the response to the message before it.
    fn must_hold(&self) -> bool {
        self.state.order.is_responding() && self.guard.position() != MessagePosition::InBody
    }

    /// Checks `bytes` with the guard and updates the state of the connection.
    fn pass(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let was_in_body = self.guard.position() == MessagePosition::InBody;
        let passed = self.guard.pass(bytes);
        self.state.body.set_position(self.guard.position());
        match passed {
            Ok(0) => Ok(0),
            Ok(count) if was_in_body => {
                self.state.body.count(count);
                Ok(count)
            }
            Ok(count) => {
                self.may_switch = false;
                self.state.begin_message();
                Ok(count)
            }
            Err(error) => {
                self.protocol = self.recognize(bytes);
                if self.protocol.is_some() {
                    return Ok(0);
                }
                self.state.end.refuse(Refusal::Malformed(error));
                if was_in_body {
                    Err(io::Error::from(io::ErrorKind::InvalidData))
                } else {
                    Ok(0)
                }
            }
        }
    }

    /// The protocol that begins with these bytes. No message of HTTP/1.1 begins with them.
    fn recognize(&self, bytes: &[u8]) -> Option<Rc<dyn Protocol>> {
        let protocols = Some(&self.protocols).filter(|_| self.may_switch);
        protocols?.recognize(bytes)
    }

    /// Like `pass`, but passes the part of the body at hand together with the headers. That saves
    /// hyper a second read for a small body.
    fn pass_message(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let was_in_body = self.guard.position() == MessagePosition::InBody;
        let passed = self.pass(bytes)?;
        if let Some(minor) = self.guard.take_higher_minor() {
            // hyper knows no higher version than the one that this server speaks.
            bytes[minor] = b'1';
        }
        if was_in_body || self.guard.position() != MessagePosition::InBody {
            return Ok(passed);
        }
        // An error is ignored here: the guard returns it again when the rest is passed again.
        let body = self.guard.pass(&bytes[passed..]).unwrap_or(0);
        self.state.body.count(body);
        self.state.body.set_position(self.guard.position());
        Ok(passed + body)
    }

    /// Passes bytes to hyper that were read before and are allowed now. Returns whether there were any.
    fn pass_on(&mut self, buf: &mut ReadBuf<'_>) -> io::Result<bool> {
        if self.passed == 0
            && !self.carry.is_empty()
            && !self.must_hold()
            && self.state.end.refusal().is_none()
        {
            let mut carry = std::mem::take(&mut self.carry);
            let passed = self.pass_message(&mut carry);
            self.carry = carry;
            self.passed = passed?;
            if self.passed == 0 {
                // A stray blank line after a message is dropped, so that the connection can be parked. A half-read
                // blank line is kept.
                self.carry.advance(self.guard.take_blank_lines());
                if !self.carry.is_empty() {
                    self.state.body.set_position(MessagePosition::InHeaders);
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

    /// Treats a part of a record as the beginning of a message, with the same timeout and limits.
    fn note_record(&mut self) {
        if self.guard.position() != MessagePosition::BetweenMessages || !self.carry.is_empty() {
            return;
        }
        if self.stream.get_ref().is_in_record() {
            self.state.bytes.count_received(1);
            self.state.body.set_position(MessagePosition::InHeaders);
        } else {
            self.state
                .body
                .set_position(MessagePosition::BetweenMessages);
        }
    }

    /// Counts the memory of hyper's buffer, which has this much room.
    fn account_for(&mut self, room: usize) {
        let buffers =
            ACTIVE_COST + room.saturating_sub(FIRST_BUFFER) + self.stream.get_ref().held_bytes();
        if buffers as u64 > self.buffers.bytes() {
            self.buffers.set(buffers);
        }
    }

    /// Stops counting the headers of a request that is over.
    fn forget_headers(&mut self) {
        if self.headers.bytes() > 0 && self.carry.is_empty() && !self.state.order.is_responding() {
            self.headers.set(0);
        }
    }

    /// How many bytes the next read may return; `room` is what the buffer has left. Reads are limited because hyper's
    /// buffer grows when a read fills it, and because `carry` has only so much room.
    fn read_limit(&self, room: usize) -> u64 {
        let limit = if self.state.memory().memory().has_room(room as u64) {
            self.read_limit
        } else {
            self.read_limit.min(FIRST_BUFFER as u64 - 1)
        };
        if self.carry.is_empty() {
            limit
        } else {
            limit.min((self.carry.capacity() - self.carry.len()) as u64)
        }
    }

    /// Makes room for more bytes in `carry`, if it is in use. Returns `false` while there is no memory for them.
    fn make_room(&mut self, cx: &Context<'_>) -> bool {
        let room = self.carry.capacity() - self.carry.len();
        if self.carry.is_empty() || room > 0 {
            return true;
        }
        let wanted = self.carry.capacity().max(CARRY_START);
        let is_resumed = match &self.memory_wait {
            Some(memory_wait) => memory_wait.is_over(cx.waker()),
            None => self.state.memory().admits(wanted as u64),
        };
        if is_resumed {
            self.memory_wait = None;
            self.carry.reserve(wanted);
            self.headers.set(self.carry.capacity());
        }
        is_resumed
    }

    /// Waits for memory, or for the response to the request before the one that has arrived.
    fn await_room(&mut self, cx: &Context<'_>) -> Poll<io::Result<()>> {
        if self.must_hold() {
            // A read would show that the client is gone, but there is no room for the bytes that it has sent.
            if self.stream.get_ref().is_closed_by_client() {
                return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
            }
            self.state.order.hold(cx.waker());
        } else if self.memory_wait.is_none() {
            let wanted = self.carry.capacity().max(CARRY_START) as u64;
            let memory_wait = self.state.memory().pause(wanted, clock::now());
            memory_wait.is_over(cx.waker());
            self.memory_wait = Some(memory_wait);
        }
        Poll::Pending
    }

    /// Reads once into `buf`, and leaves there the bytes that the guard passes. Returns `true` at the end of the
    /// stream.
    fn read_once(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<bool>> {
        let before = buf.filled().len();
        self.stream.set_limit(self.read_limit(buf.remaining()));
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        if buf.filled().len() == before {
            return Poll::Ready(Ok(true));
        }
        let received = buf.filled().len() - before;
        self.state.bytes.count_received(received);
        if received >= FIRST_BUFFER {
            // hyper's next buffer is about twice as large.
            self.account_for(2 * received);
        }
        let may_pass = self.carry.is_empty() && !self.must_hold();
        let passed = if may_pass {
            self.pass_message(&mut buf.filled_mut()[before..])?
        } else {
            0
        };
        let kept = &buf.filled()[before + passed..];
        if !kept.is_empty() {
            self.carry.extend_from_slice(kept);
            self.headers.set(self.carry.capacity());
        }
        buf.set_filled(before + passed);
        Poll::Ready(Ok(false))
    }
}

impl AsyncRead for GuardedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        this.account_for(buf.remaining());
        this.forget_headers();
        loop {
            if this.pass_on(buf)? || this.protocol.is_some() {
                // hyper sees the end of the stream where another protocol begins.
                return Poll::Ready(Ok(()));
            }
            if this.state.end.refusal().is_some() {
                if this.must_hold() {
                    this.state.order.hold(cx.waker());
                    return Poll::Pending;
                }
                // hyper sees the end of the stream, and finishes writing.
                return Poll::Ready(Ok(()));
            }
            let is_ahead = this.must_hold() && this.carry.len() >= AHEAD_LIMIT;
            if is_ahead || !this.make_room(cx) {
                return this.await_room(cx);
            }
            match this.read_once(cx, buf) {
                Poll::Pending => {
                    if this.must_hold() && !this.carry.is_empty() {
                        this.state.order.hold(cx.waker());
                    }
                    this.note_record();
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

impl GuardedStream {
    /// Writes the 103 responses that wait.
    fn write_interim(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let (stream, state) = (self.stream.get_mut(), &self.state);
        state.interim.poll_write(cx, |cx, bytes| {
            note_written(state, Pin::new(&mut *stream).poll_write(cx, bytes))
        })
    }

    /// Completes 103 responses that may be partly written.
    fn complete_interim(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.state.interim.is_begun() {
            return self.write_interim(cx);
        }
        Poll::Ready(Ok(()))
    }
}

/// Notes the result of a write in the state of the connection.
fn note_written(
    state: &ConnectionState,
    written: Poll<io::Result<usize>>,
) -> Poll<io::Result<usize>> {
    state.set_write_blocked(written.is_pending());
    if let Poll::Ready(Ok(bytes)) = written {
        state.bytes.count_written(bytes);
    }
    written
}

impl AsyncWrite for GuardedStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.complete_interim(cx))?;
        if this.state.outgoing.is_set() {
            // hyper has copied the placeholder of the file into its buffer, so the client would get zeros.
            return Poll::Ready(Err(io::ErrorKind::Unsupported.into()));
        }
        let written = Pin::new(this.stream.get_mut()).poll_write(cx, bytes);
        note_written(&this.state, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.complete_interim(cx))?;
        let stream = this.stream.get_mut();
        let outgoing = &this.state.outgoing;
        if outgoing.is_set() {
            if outgoing.gives_way(cx) {
                return Poll::Pending;
            }
            let written = write_with_file(stream, outgoing, slices, cx);
            return note_written(&this.state, written);
        }
        let written = Pin::new(stream).poll_write_vectored(cx, slices);
        note_written(&this.state, written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Writes 103 responses. hyper calls this when it has written everything that it has, which is the only right
    /// moment for them.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().write_interim(cx)
    }

    /// Does nothing, although hyper ends a connection with this: `serve_connection` closes it, and may have a refusal
    /// to write first.
    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
