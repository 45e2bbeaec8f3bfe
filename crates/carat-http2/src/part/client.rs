use std::cell::RefCell;
use std::rc::Rc;

use h2::{Error, Reason};

use super::response_files::ResponseFiles;
use super::unsent_bytes::UnsentBytes;
use crate::part::http2::Http2;
use carat_exchange::{ConnectionState, MemoryReservation, Peer};
use carat_http::{ClientStream, ProtocolCore, ProtocolEnd};

/// Bytes of memory that a connection takes: its task, and h2's buffers.
pub(super) const CONNECTION_COST: usize = 32 * 1024;
/// Bytes of h2's buffer for reading at first, which are in `CONNECTION_COST`.
pub(super) const FIRST_ROOM: usize = 8 * 1024;

/// The state that the streams of one connection share.
pub(super) struct Http2Client {
    /// The state that all connections of HTTP/2 share.
    pub(super) protocol: Rc<Http2>,
    pub(super) core: Rc<dyn ProtocolCore>,
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
        peer: Rc<Peer>,
        core: Rc<dyn ProtocolCore>,
        protocol: Rc<Http2>,
    ) -> Rc<Http2Client> {
        let state = Rc::new(ConnectionState::new(core.client_memory().account()));
        let mut held = MemoryReservation::of(state.memory());
        held.grow(CONNECTION_COST);
        Rc::new(Http2Client {
            protocol,
            peer,
            unsent: UnsentBytes::new(state.memory()),
            state,
            files: ResponseFiles::new(core.further_replies()),
            core,
            stream: RefCell::new(stream),
            _held: held,
        })
    }

    /// Notes for the log why the connection ends.
    pub(super) fn note_failure(&self, reason: &str) {
        self.protocol.note_failure(&self.peer, reason.to_owned());
    }

    /// How a connection ends after an error of h2. An error that h2 has found itself, such as a
    /// fault of the client, is noted for the log.
    pub(super) fn note_error(&self, error: &Error) -> ProtocolEnd {
        if !error.is_library() {
            return ProtocolEnd::Closed;
        }
        let reason = error.reason().unwrap_or(Reason::INTERNAL_ERROR);
        self.note_failure(reason.description());
        ProtocolEnd::GoneAway
    }
}
