use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::access::AccessEntry;
use crate::body::response::ClientBody;
use crate::exchange::{ConnectionState, SpoolReservation};

/// The body of a response on its way to hyper. When hyper drops it, complete or not, the request is
/// over.
pub(super) struct TrackedBody {
    body: ClientBody,
    entry: AccessEntry,
    state: Rc<ConnectionState>,
    _spooled: Option<SpoolReservation>,
}

impl TrackedBody {
    pub(super) fn new(
        body: ClientBody,
        entry: AccessEntry,
        state: Rc<ConnectionState>,
        spooled: Option<SpoolReservation>,
    ) -> TrackedBody {
        TrackedBody {
            body,
            entry,
            state,
            _spooled: spooled,
        }
    }
}

impl Body for TrackedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        // hyper would take one more piece while the one before is not written.
        if self.state.must_wait_to_write(cx.waker()) {
            return Poll::Pending;
        }
        let piece = ready!(self.body.poll_piece(cx));
        match &piece {
            Some(Ok(piece)) => {
                self.entry.count(piece.len());
                self.state.note_piece(piece.len());
            }
            Some(Err(_)) => self.state.break_off(),
            None => {}
        }
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.length() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .length()
            .map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl Drop for TrackedBody {
    fn drop(&mut self) {
        // The body of the request broke off after the response had begun: only the log can say why.
        if let (Some(refusal), false) = (self.state.refusal(), self.state.body_has_arrived()) {
            self.entry.refused(refusal);
        }
        self.state.end_message();
    }
}
