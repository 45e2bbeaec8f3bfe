use std::cell::RefCell;
use std::rc::Rc;

use h2::{Error, Reason};

use super::super::server::Server;
use super::super::stream::ClientStream;
use super::end::Http2End;
use super::response_files::ResponseFiles;
use super::unsent_bytes::UnsentBytes;
use crate::exchange::{ConnectionState, Peer};

/// What the streams of one connection share.
pub(super) struct Http2Client {
    pub(super) server: Rc<Server>,
    pub(super) peer: Rc<Peer>,
    pub(super) state: Rc<ConnectionState>,
    pub(super) unsent: Rc<UnsentBytes>,
    pub(super) files: ResponseFiles,
    pub(super) stream: RefCell<ClientStream>,
}

impl Http2Client {
    /// Has it logged why the connection ends.
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
