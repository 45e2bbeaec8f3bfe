use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use carat_guard::MessagePosition;
use h2::RecvStream;

use super::expectation::Expectation;
use carat_body::request::BodySource;
use carat_exchange::{ConnectionState, MemoryReservation};

/// The body of an HTTP/2 request that is arriving. The client may send more only once a piece has
/// reached the spool or the application.
pub(crate) struct Http2Body {
    stream: RecvStream,
    state: Rc<ConnectionState>,
    /// The length in bytes, if the client has declared it.
    length: Option<u64>,
    /// Bytes of the last piece, for which the client's window was not opened again yet.
    unreleased: usize,
    expectation: Option<Rc<Expectation>>,
    _window: MemoryReservation,
}

impl Http2Body {
    /// The body that arrives on a stream; `window` is the number of bytes that the client may make the connection
    /// hold.
    pub(crate) fn new(
        stream: RecvStream,
        state: &Rc<ConnectionState>,
        length: Option<u64>,
        expectation: Option<Rc<Expectation>>,
        window: MemoryReservation,
    ) -> Http2Body {
        if !stream.is_end_stream() {
            state.body.set_position(MessagePosition::InBody);
        }
        Http2Body {
            stream,
            state: Rc::clone(state),
            length,
            unreleased: 0,
            expectation,
            _window: window,
        }
    }

    /// Opens the client's window by the bytes that were consumed.
    fn release(&mut self) {
        if self.unreleased > 0 {
            // A stream that is over has no window to open.
            let _ = self.stream.flow_control().release_capacity(self.unreleased);
            self.unreleased = 0;
        }
    }
}

impl BodySource for Http2Body {
    fn is_end_stream(&self) -> bool {
        self.stream.is_end_stream()
    }

    fn announced(&self) -> Option<u64> {
        self.length
    }

    fn has_arrived(&mut self) -> bool {
        let held = self.stream.flow_control().used_capacity() as u64;
        self.stream.is_end_stream() || self.length.is_some_and(|length| held >= length)
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, ()>>> {
        self.release();
        if let Some(expectation) = &self.expectation {
            expectation.ask();
        }
        let piece = ready!(self.stream.poll_data(cx));
        if let Some(Ok(piece)) = &piece {
            self.unreleased = piece.len();
            self.state.bytes.count_received(piece.len());
            self.state.body.count(piece.len());
        }
        if piece.is_none() || self.stream.is_end_stream() {
            self.state
                .body
                .set_position(MessagePosition::BetweenMessages);
        }
        Poll::Ready(piece.map(|piece| piece.map_err(|_| ())))
    }
}
