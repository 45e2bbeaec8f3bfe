use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

use carat_guard::MessagePosition;
use http::HeaderMap;

use crate::connection::body_progress::BodyProgress;
use crate::connection::client_bytes::ClientBytes;
use crate::connection::close_state::CloseState;
use crate::connection::message_order::MessageOrder;
use crate::connection::write_gate::WriteGate;
use crate::memory::MemoryAccount;
use crate::response::{HintSink, InterimResponses, OutgoingFile};
use crate::tunnel::Takeover;

/// The state of one connection, shared by the code that reads, serves, and writes it. Each stream of a connection that
/// has several has a state of its own, too.
#[derive(Debug)]
pub struct ConnectionState {
    memory: Rc<MemoryAccount>,
    /// The connection, if this is the state of one of its streams.
    connection: Option<Rc<ConnectionState>>,
    /// The numbers of bytes received and written.
    pub bytes: ClientBytes,
    /// How much of the request has arrived.
    pub body: BodyProgress,
    /// Whether a request is being served.
    pub order: MessageOrder,
    /// Whether the client reads what is written.
    pub writing: WriteGate,
    /// How the connection is to end.
    pub end: CloseState,
    allows_takeover: Cell<bool>,
    is_edge_tunnel: Cell<bool>,
    takeover: RefCell<Option<Box<Takeover>>>,
    /// The interim responses to write before the next response.
    pub interim: InterimResponses,
    /// The part of a file that is sent in place of bytes.
    pub outgoing: OutgoingFile,
}

/// The event that a connection waits for. Each phase has its own timeout.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ConnectionPhase {
    /// The connection waits for the next request.
    Idle,
    /// The connection waits for the rest of a request's headers.
    Headers,
    /// The connection waits for the rest of a request's body.
    Body,
    /// The connection waits for the application.
    Application,
    /// The connection waits for the client to read its response; in a tunnel, for either end.
    Writing,
}

/// How many bytes a client has been sent, in one stream and in all streams of its connection. With HTTP/1.1 both
/// numbers are equal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ReadProgress {
    /// Bytes that were sent in the stream.
    pub stream: u64,
    /// Bytes that were sent in all streams of the connection.
    pub connection: u64,
}

impl ConnectionState {
    /// A connection that has sent nothing yet.
    pub fn new(memory: Rc<MemoryAccount>) -> ConnectionState {
        ConnectionState {
            memory,
            connection: None,
            bytes: ClientBytes::default(),
            body: BodyProgress::default(),
            order: MessageOrder::default(),
            writing: WriteGate::default(),
            end: CloseState::default(),
            allows_takeover: Cell::new(false),
            is_edge_tunnel: Cell::new(false),
            takeover: RefCell::new(None),
            interim: InterimResponses::default(),
            outgoing: OutgoingFile::default(),
        }
    }

    /// The state of a stream, one of several of its connection.
    pub fn of_stream(
        memory: Rc<MemoryAccount>,
        connection: &Rc<ConnectionState>,
    ) -> ConnectionState {
        ConnectionState {
            connection: Some(Rc::clone(connection)),
            ..ConnectionState::new(memory)
        }
    }

    /// The account of the memory that the connection holds.
    pub fn memory(&self) -> &Rc<MemoryAccount> {
        &self.memory
    }

    /// The connection, if this is the state of one of its streams.
    pub fn connection(&self) -> Option<&Rc<ConnectionState>> {
        self.connection.as_ref()
    }

    /// Notes that hyper has the headers of a request. No other message begins before the response is out.
    pub fn begin_message(&self) {
        self.order.begin();
        self.body.begin();
        self.writing.note_piece(0);
    }

    /// Notes that the response is on its way to the client. `ends_by_close` says whether only the end of the connection
    /// ends its body.
    pub fn begin_response(&self, ends_by_close: bool) {
        self.outgoing.clear();
        self.order.begin_response();
        self.end.set_ends_by_close(ends_by_close);
    }

    /// Whether a refusal can be sent. It cannot while the body of an already answered request still arrives.
    pub fn may_refuse(&self) -> bool {
        !self.order.has_begun_response() || self.body.has_arrived()
    }

    /// Sets whether the client currently does not read what is written.
    pub fn set_write_blocked(&self, blocked: bool) {
        self.writing.set_blocked(blocked, &self.memory);
    }

    /// Whether the body of the response has to wait, because the client has not read the previous bytes. `waker` is
    /// woken when the body may continue.
    pub fn must_wait_to_write(&self, waker: &Waker) -> bool {
        let blocked = self.writing.is_blocked() || self.outgoing.is_set();
        if blocked {
            self.writing.wait(waker);
        }
        blocked
    }

    /// How much the client has read since hyper took the connection.
    pub fn read_progress(&self) -> ReadProgress {
        let written = self.bytes.written();
        let connection = self.connection.as_ref();
        ReadProgress {
            stream: written,
            connection: connection.map_or(written, |connection| connection.bytes.written()),
        }
    }

    /// Allows applications to take over the connection: it serves one request at a time.
    pub fn allow_takeover(&self) {
        self.allows_takeover.set(true);
    }

    /// Whether an application may take over the connection now: this is allowed, and the request has arrived
    /// completely.
    pub fn allows_takeover(&self) -> bool {
        self.allows_takeover.get() && self.body.has_arrived()
    }

    /// Whether this is a stream on which the client asks for a tunnel and nothing else (RFC 8441).
    pub fn awaits_tunnel(&self) -> bool {
        self.connection.is_some() && self.allows_takeover.get()
    }

    /// Leaves the connection to a tunnel as soon as everything before it is written.
    pub fn take_over(&self, takeover: Takeover) {
        self.takeover.replace(Some(Box::new(takeover)));
    }

    /// The tunnel that takes the place of HTTP; `None` until everything before it is written.
    pub fn takeover(&self) -> Option<Box<Takeover>> {
        if self.writing.is_blocked() {
            return None;
        }
        self.takeover.take()
    }

    /// Notes that a part of the edge serves the client through a tunnel from now on.
    pub fn begin_edge_tunnel(&self) {
        self.is_edge_tunnel.set(true);
    }

    /// Whether a part of the edge serves the client by a tunnel.
    pub fn is_edge_tunnel(&self) -> bool {
        self.is_edge_tunnel.get()
    }

    /// The phase of the connection.
    pub fn phase(&self) -> ConnectionPhase {
        match self.body.position() {
            _ if self.writing.is_blocked() => ConnectionPhase::Writing,
            MessagePosition::InBody if !self.body.is_paused() => ConnectionPhase::Body,
            _ if self.order.is_responding() => ConnectionPhase::Application,
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
