use std::cell::RefCell;
use std::rc::Rc;

use h2::{Error, Reason};

use super::super::server::Server;
use super::end::Http2End;
use super::response_files::ResponseFiles;
use super::unsent_bytes::UnsentBytes;
use crate::sockets::ClientStream;
use carat_exchange::{ConnectionState, MemoryReservation, Peer};

/// The memory of a connection: h2's buffers, of which the one for reading has `FIRST_ROOM`, and the task.
pub(super) const CONNECTION_COST: usize = 32 * 1024;
pub(super) const FIRST_ROOM: usize = 8 * 1024;

/// The state that the streams of one connection share.
pub(super) struct Http2Client {
    pub(super) server: Rc<Server>,
    pub(super) peer: Rc<Peer>,
    pub(super) state: Rc<ConnectionState>,
    pub(super) unsent: Rc<UnsentBytes>,
    pub(super) files: ResponseFiles,
    pub(super) stream: RefCell<ClientStream>,
    /// The memory of the connection.
    _held: MemoryReservation,
}

impl Http2Client {
    /// The shared state for the streams of a new connection.
    pub(super) fn new(
        stream: ClientStream,
        peer: &Rc<Peer>,
        server: &Rc<Server>,
    ) -> Rc<Http2Client> {
        let state = Rc::new(ConnectionState::new(server.client_memory().account()));
        let mut held = MemoryReservation::of(state.memory());
        held.grow(CONNECTION_COST);
        Rc::new(Http2Client {
            server: Rc::clone(server),
            peer: Rc::clone(peer),
            unsent: UnsentBytes::new(state.memory()),
            state,
            files: ResponseFiles::new(server.permits.further_replies()),
            stream: RefCell::new(stream),
            _held: held,
        })
    }

    /// Notes for the log why the connection ends.
    pub(super) fn note_failure(&self, reason: &str) {
        self.server
            .http2
            .note_failure(&self.peer, reason.to_owned());
    }

    /// How a connection ends with which h2 has finished.
    pub(super) fn note_error(&self, error: &Error) -> Http2End {
        if !error.is_library() {
            return Http2End::Closed;
        }
        let reason = error.reason().unwrap_or(Reason::INTERNAL_ERROR);
        self.note_failure(reason.description());
        Http2End::GoneAway
    }
}
