use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

use carat_guard::MessagePosition;
use http::HeaderMap;

use super::tunnel::Takeover;
use crate::memory::MemoryAccount;
use crate::response::{HintSink, InterimResponses, OutgoingFile, Refusal};

/// What one connection is doing, shared by the parts that read, serve and write it. With HTTP/2, each stream has a state of
/// its own, too.
#[derive(Debug)]
pub struct ConnectionState {
    memory: Rc<MemoryAccount>,
    /// The connection of a stream of HTTP/2.
    connection: Option<Rc<ConnectionState>>,
    received_bytes: Cell<u64>,
    position: Cell<MessagePosition>,
    responding: Cell<bool>,
    waiting_reader: RefCell<Option<Waker>>,
    waiting_body: RefCell<Option<Waker>>,
    refusal: Cell<Option<Refusal>>,
    body_bytes: Cell<u64>,
    body_paused: Cell<bool>,
    body_pauses: Cell<u32>,
    body_streamed: Cell<bool>,
    response_begun: Cell<bool>,
    ends_by_close: Cell<bool>,
    broken_off: Cell<bool>,
    write_blocked: Cell<bool>,
    /// The last piece of the response that hyper took, in bytes.
    piece_bytes: Cell<u64>,
    /// What `memory` holds of it.
    unread_bytes: Cell<u64>,
    written_bytes: Cell<u64>,
    linger: Cell<bool>,
    allows_takeover: Cell<bool>,
    takeover: RefCell<Option<Box<Takeover>>>,
    interim: InterimResponses,
    outgoing: OutgoingFile,
}

/// What a connection waits for. Each phase has its own timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionPhase {
    /// The next request.
    Idle,
    /// The rest of a request's headers.
    Headers,
    /// The rest of a request's body.
    Body,
    /// The application.
    Application,
    /// The client, to read its response; in a tunnel, either end.
    Writing,
}

/// How many bytes a client has been sent, in one stream and in all streams of its connection. With HTTP/1.1 they are the
/// same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadProgress {
    /// The window of one stream, in bytes.
    pub stream: u64,
    /// The window of the connection, in bytes.
    pub connection: u64,
}

impl ConnectionState {
    /// A connection that has sent nothing yet.
    pub fn new(memory: Rc<MemoryAccount>) -> ConnectionState {
        ConnectionState {
            memory,
            connection: None,
            received_bytes: Cell::new(0),
            position: Cell::new(MessagePosition::BetweenMessages),
            responding: Cell::new(false),
            waiting_reader: RefCell::new(None),
            waiting_body: RefCell::new(None),
            refusal: Cell::new(None),
            body_bytes: Cell::new(0),
            body_paused: Cell::new(false),
            body_pauses: Cell::new(0),
            body_streamed: Cell::new(false),
            response_begun: Cell::new(false),
            ends_by_close: Cell::new(false),
            broken_off: Cell::new(false),
            write_blocked: Cell::new(false),
            piece_bytes: Cell::new(0),
            unread_bytes: Cell::new(0),
            written_bytes: Cell::new(0),
            linger: Cell::new(false),
            allows_takeover: Cell::new(false),
            takeover: RefCell::new(None),
            interim: InterimResponses::default(),
            outgoing: OutgoingFile::default(),
        }
    }

    /// The state of a stream of HTTP/2.
    pub fn of_stream(
        memory: Rc<MemoryAccount>,
        connection: &Rc<ConnectionState>,
    ) -> ConnectionState {
        ConnectionState {
            connection: Some(Rc::clone(connection)),
            ..ConnectionState::new(memory)
        }
    }

    /// What the connection holds in memory.
    pub fn memory(&self) -> &Rc<MemoryAccount> {
        &self.memory
    }

    /// The connection of a stream of HTTP/2.
    pub fn connection(&self) -> Option<&Rc<ConnectionState>> {
        self.connection.as_ref()
    }

    /// What is written before the next response.
    pub fn interim(&self) -> &InterimResponses {
        &self.interim
    }

    /// The part of a file that is sent in place of bytes.
    pub fn outgoing(&self) -> &OutgoingFile {
        &self.outgoing
    }

    /// The client has sent this many bytes.
    pub fn count_received(&self, bytes: usize) {
        self.received_bytes
            .set(self.received_bytes.get() + bytes as u64);
    }

    /// Whether the client has sent anything since hyper took the connection.
    pub fn has_received(&self) -> bool {
        self.received_bytes.get() > 0
    }

    /// Bytes received and written since hyper took the connection.
    pub fn moved_bytes(&self) -> u64 {
        self.received_bytes.get() + self.written_bytes.get()
    }

    /// hyper has the headers of a request. No other message begins before the response is out.
    pub fn begin_message(&self) {
        self.responding.set(true);
        self.body_bytes.set(0);
        self.piece_bytes.set(0);
        self.body_paused.set(false);
        self.body_streamed.set(false);
        self.response_begun.set(false);
    }

    /// The response is on its way to the client. `ends_by_close` says whether only the end of the
    /// connection ends its body.
    pub fn begin_response(&self, ends_by_close: bool) {
        self.outgoing.clear();
        self.response_begun.set(true);
        self.ends_by_close.set(ends_by_close);
    }

    /// The body of the response broke off.
    pub fn break_off(&self) {
        self.broken_off.set(true);
    }

    /// Whether the connection must be reset, because an orderly end would make an incomplete response
    /// look complete (RFC 9112, section 8).
    pub fn must_reset(&self) -> bool {
        self.broken_off.get() && self.ends_by_close.get()
    }

    /// Whether a refusal can be sent: not while the body of an already answered request arrives.
    pub fn may_refuse(&self) -> bool {
        !self.response_begun.get() || self.body_has_arrived()
    }

    /// hyper has the complete response body, or there will be none.
    pub fn end_message(&self) {
        self.responding.set(false);
        self.wake_reader();
    }

    /// Lets a reader that was held back look again.
    pub fn wake_reader(&self) {
        if let Some(waker) = self.waiting_reader.take() {
            waker.wake();
        }
    }

    /// Whether a request is being served.
    pub fn is_responding(&self) -> bool {
        self.responding.get()
    }

    /// Holds back the next message; `waker` is woken when the response is out.
    pub fn hold(&self, waker: &Waker) {
        self.waiting_reader.replace(Some(waker.clone()));
    }

    /// Stops reading from this connection. Only the first refusal counts.
    pub fn refuse(&self, refusal: Refusal) {
        if self.refusal.get().is_none() {
            self.refusal.set(Some(refusal));
        }
    }

    /// Why reading stopped.
    pub fn refusal(&self) -> Option<Refusal> {
        self.refusal.get()
    }

    /// The response already reported the refusal.
    pub fn refusal_sent(&self) {
        self.refusal.set(None);
    }

    /// Counts bytes of the request body.
    pub fn count_body(&self, bytes: usize) {
        self.body_bytes.set(self.body_bytes.get() + bytes as u64);
    }

    /// Bytes of the request body so far, framing included.
    pub fn body_bytes(&self) -> u64 {
        self.body_bytes.get()
    }

    /// Whether the client has sent the complete body.
    pub fn body_has_arrived(&self) -> bool {
        self.position.get() != MessagePosition::InBody
    }

    /// Sets whether the server currently does not read the rest of the body.
    pub fn pause_body(&self, paused: bool) {
        self.body_streamed.set(true);
        if self.body_paused.replace(paused) != paused {
            self.body_pauses.set(self.body_pauses.get().wrapping_add(1));
        }
    }

    /// Whether the application reads the body while it arrives.
    pub fn is_body_streamed(&self) -> bool {
        self.body_streamed.get()
    }

    /// Changes whenever the body is paused or resumed.
    pub fn body_pauses(&self) -> u32 {
        self.body_pauses.get()
    }

    /// Sets whether the client currently does not read what is written.
    pub fn set_write_blocked(&self, blocked: bool) {
        if self.write_blocked.replace(blocked) != blocked {
            self.hold_piece(blocked);
        }
        if !blocked {
            if let Some(waker) = self.waiting_body.take() {
                waker.wake();
            }
        }
    }

    /// hyper takes a piece of the response.
    pub fn note_piece(&self, bytes: usize) {
        self.piece_bytes.set(bytes as u64);
    }

    /// Counts the piece that hyper holds, or stops counting it.
    fn hold_piece(&self, held: bool) {
        if held {
            self.unread_bytes.set(self.piece_bytes.get());
            self.memory.take(self.unread_bytes.get());
        } else {
            self.memory.give_back(self.unread_bytes.take());
        }
    }

    /// Whether the body of the response has to wait, because the client has not taken what was written before. `waker`
    /// is woken when it has.
    pub fn must_wait_to_write(&self, waker: &Waker) -> bool {
        let blocked = self.write_blocked.get() || self.outgoing.is_set();
        if blocked {
            self.waiting_body.replace(Some(waker.clone()));
        }
        blocked
    }

    /// Counts bytes that the kernel accepted for the client.
    pub fn count_written(&self, bytes: usize) {
        self.written_bytes
            .set(self.written_bytes.get() + bytes as u64);
    }

    /// How much the client has read since hyper took the connection.
    pub fn read_progress(&self) -> ReadProgress {
        let written = self.written_bytes.get();
        let connection = self.connection.as_ref();
        ReadProgress {
            stream: written,
            connection: connection.map_or(written, |connection| connection.written_bytes.get()),
        }
    }

    /// Makes the connection drain before it is closed. With unread bytes of the client the kernel
    /// resets the connection instead, and the client loses its response.
    pub fn linger(&self) {
        self.linger.set(true);
    }

    /// Whether the connection must be drained after its last response.
    pub fn must_linger(&self) -> bool {
        self.linger.get()
    }

    /// The connection serves one request at a time, so that an application may take it over.
    pub fn allow_takeover(&self) {
        self.allows_takeover.set(true);
    }

    /// Whether an application may take the connection over now: the request has arrived completely.
    pub fn allows_takeover(&self) -> bool {
        self.allows_takeover.get() && self.body_has_arrived()
    }

    /// Whether this is a stream on which the client asks for a tunnel and nothing else (RFC 8441).
    pub fn awaits_tunnel(&self) -> bool {
        self.connection.is_some() && self.allows_takeover.get()
    }

    /// Leaves the connection to a tunnel once everything before is written.
    pub fn take_over(&self, takeover: Takeover) {
        self.takeover.replace(Some(Box::new(takeover)));
    }

    /// The tunnel that takes the place of HTTP, once everything before is written.
    pub fn takeover(&self) -> Option<Box<Takeover>> {
        if self.write_blocked.get() {
            return None;
        }
        self.takeover.take()
    }

    /// Sets where the guard is in the stream of messages.
    pub fn set_position(&self, position: MessagePosition) {
        self.position.set(position);
    }

    /// What the connection waits for.
    pub fn phase(&self) -> ConnectionPhase {
        match self.position.get() {
            _ if self.write_blocked.get() => ConnectionPhase::Writing,
            MessagePosition::InBody if !self.body_paused.get() => ConnectionPhase::Body,
            _ if self.responding.get() => ConnectionPhase::Application,
            MessagePosition::InBody => ConnectionPhase::Body,
            MessagePosition::InHeaders => ConnectionPhase::Headers,
            MessagePosition::BetweenMessages => ConnectionPhase::Idle,
        }
    }
}

impl HintSink for ConnectionState {
    fn send(&self, fields: &HeaderMap) {
        self.interim.add_hints(fields, &self.memory);
    }
}
