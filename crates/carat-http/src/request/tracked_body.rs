use std::io;
use std::mem::take;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::Response;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;

use crate::request::access::AccessEntry;
use crate::request::request_context::RequestContext;
use carat_body::response::ClientBody;
use carat_exchange::{ConnectionState, FilePlaceholder, SpoolReservation};

/// A piece of a response as hyper holds it.
pub enum BodyPiece {
    /// Bytes in memory.
    Bytes(Bytes),
    /// A placeholder. The stream below hyper sends a part of a file in its place.
    File(FilePlaceholder),
}

impl Buf for BodyPiece {
    fn remaining(&self) -> usize {
        match self {
            BodyPiece::Bytes(bytes) => bytes.remaining(),
            BodyPiece::File(file) => file.remaining(),
        }
    }

    fn chunk(&self) -> &[u8] {
        match self {
            BodyPiece::Bytes(bytes) => bytes.chunk(),
            BodyPiece::File(file) => file.chunk(),
        }
    }

    fn advance(&mut self, count: usize) {
        match self {
            BodyPiece::Bytes(bytes) => bytes.advance(count),
            BodyPiece::File(file) => file.advance(count),
        }
    }
}

/// The body of a response on its way to hyper. When hyper drops it, complete or not, the request is
/// over.
pub struct TrackedBody {
    body: ClientBody,
    entry: AccessEntry,
    state: Rc<ConnectionState>,
    _spooled: Option<SpoolReservation>,
    /// The permit for the file of the body, on a connection that may have several requests at once.
    file_permit: Option<OwnedSemaphorePermit>,
}

impl TrackedBody {
    pub(crate) fn new(
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
            file_permit: None,
        }
    }

    /// Wraps the body of a response, so that its way to the client is tracked.
    pub(crate) fn track(
        response: Response<ClientBody>,
        context: &mut RequestContext,
    ) -> Response<TrackedBody> {
        context.entry.responded(response.status());
        let (entry, spooled) = (take(&mut context.entry), context.spooled.take());
        let state = Rc::clone(&context.state);
        response.map(|body| TrackedBody::new(body, entry, state, spooled))
    }

    /// Whether a file is open for the body.
    pub fn holds_file(&self) -> bool {
        self.body.holds_file()
    }

    /// Keeps the permit for the file as long as the file is open.
    pub fn keep_permit(&mut self, permit: OwnedSemaphorePermit) {
        self.file_permit = Some(permit);
    }

    /// How many bytes of the body are in memory, not counting a stream.
    pub fn held_bytes(&self) -> usize {
        self.body.held_bytes()
    }

    /// The next piece, or the end of the body.
    pub fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        // Otherwise hyper would take a further piece before the last one is written.
        if self.state.must_wait_to_write(cx.waker()) {
            return Poll::Pending;
        }
        let piece = ready!(self.body.poll_piece(cx));
        match &piece {
            Some(Ok(piece)) => {
                self.entry.count(piece.len());
                self.state.writing.note_piece(piece.len());
            }
            Some(Err(_)) => self.state.end.break_off(),
            None => {}
        }
        Poll::Ready(piece)
    }

    /// The next part of a file that is sent without reading it; `None` for any other body.
    fn poll_file(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<FilePlaceholder>>> {
        if self.state.must_wait_to_write(cx.waker()) {
            return Poll::Pending;
        }
        let Some(part) = ready!(self.body.poll_range(cx)) else {
            return Poll::Ready(None);
        };
        let part = part.inspect_err(|_| self.state.end.break_off())?;
        let placeholder = self.state.outgoing.set(part);
        self.entry.count(placeholder.remaining());
        // The file takes no memory of the edge.
        self.state.writing.note_piece(0);
        Poll::Ready(Some(Ok(placeholder)))
    }
}

impl Body for TrackedBody {
    type Data = BodyPiece;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<BodyPiece>>>> {
        if self.state.outgoing.is_allowed() {
            if let Some(file) = ready!(self.poll_file(cx)) {
                return Poll::Ready(Some(file.map(|file| Frame::data(BodyPiece::File(file)))));
            }
        }
        let piece = ready!(self.poll_bytes(cx));
        Poll::Ready(piece.map(|piece| piece.map(|bytes| Frame::data(BodyPiece::Bytes(bytes)))))
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
        // The body of the request broke off after the response had begun. Only the log can still say why.
        if let (Some(refusal), false) = (self.state.end.refusal(), self.state.body.has_arrived()) {
            self.entry.refused(refusal);
        }
        self.state.order.end();
    }
}
