use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;

use super::encoders::StreamEncoder;
use crate::Then;
use carat_body::response::{BodyTransform, PlainBody};
use carat_exchange::MemoryReservation;

/// Pieces for the encoder are gathered until they have this many bytes.
const GATHERED_LIMIT: usize = 128 * 1024;

/// A body that an encoder transforms.
pub(super) struct EncodedBody {
    state: EncodedState,
    gatherer: PieceGatherer,
    /// The memory reserved for the encoder.
    _memory: MemoryReservation,
}

/// The work of the encoder on another thread. It returns the encoder with its output.
type EncodeTask = Pin<Box<dyn Future<Output = io::Result<(Box<StreamEncoder>, Bytes)>>>>;

enum EncodedState {
    Waiting(Box<StreamEncoder>),
    Working(EncodeTask),
    Over,
}

impl EncodedBody {
    /// `declared` is the length of the plain body that the application has declared, if it has. The
    /// encoded body has no length to compare with, so a plain body that is too short must fail
    /// here.
    pub(super) fn new(
        encoder: StreamEncoder,
        declared: Option<u64>,
        memory: MemoryReservation,
    ) -> EncodedBody {
        EncodedBody {
            _memory: memory,
            state: EncodedState::Waiting(Box::new(encoder)),
            gatherer: PieceGatherer {
                owed: declared,
                ..PieceGatherer::default()
            },
        }
    }

    /// Starts to encode the gathered pieces on another thread.
    fn begin(&mut self, then: Then) {
        if let EncodedState::Waiting(encoder) =
            std::mem::replace(&mut self.state, EncodedState::Over)
        {
            let pieces = std::mem::take(&mut self.gatherer.pieces);
            self.state = EncodedState::Working(Box::pin(encoder.encode(pieces, then)));
        }
    }
}

impl BodyTransform for EncodedBody {
    fn poll_piece(
        &mut self,
        plain: &mut PlainBody,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Bytes>>> {
        loop {
            match &mut self.state {
                EncodedState::Over => return Poll::Ready(None),
                EncodedState::Waiting(_) => {
                    let then = ready!(self.gatherer.poll(plain, cx));
                    self.begin(then?);
                }
                EncodedState::Working(work) => {
                    let done = ready!(work.as_mut().poll(cx));
                    self.state = EncodedState::Over;
                    let (encoder, bytes) = done?;
                    if !self.gatherer.complete {
                        self.state = EncodedState::Waiting(encoder);
                    }
                    if !bytes.is_empty() {
                        return Poll::Ready(Some(Ok(bytes)));
                    }
                }
            }
        }
    }
}

/// Gathers the pieces of a body that are at hand, so that the encoder gets all of them at once.
#[derive(Default)]
struct PieceGatherer {
    pieces: Vec<Bytes>,
    /// Whether the encoder may hold back output.
    unflushed: bool,
    /// Bytes still to come, if the application declared the length.
    owed: Option<u64>,
    complete: bool,
}

impl PieceGatherer {
    /// Gathers pieces; ready with what the encoder is to do after them.
    fn poll(&mut self, plain: &mut PlainBody, cx: &mut Context<'_>) -> Poll<io::Result<Then>> {
        let mut bytes = 0;
        while bytes < GATHERED_LIMIT {
            match plain.poll_piece(cx)? {
                Poll::Pending => return self.pause(plain.is_live()),
                Poll::Ready(None) => return Poll::Ready(self.end()),
                Poll::Ready(Some(piece)) => {
                    bytes += piece.len();
                    self.take(piece)?;
                }
            }
        }
        self.unflushed = true;
        Poll::Ready(Ok(Then::More))
    }

    fn take(&mut self, piece: Bytes) -> io::Result<()> {
        if let Some(owed) = &mut self.owed {
            let left = owed.checked_sub(piece.len() as u64);
            *owed = left.ok_or(io::ErrorKind::InvalidData)?;
        }
        self.pieces.push(piece);
        Ok(())
    }

    /// The next step when no further piece is at hand. A live body is flushed, so that the client
    /// gets what there is. The rest of a file arrives soon anyway.
    fn pause(&mut self, live: bool) -> Poll<io::Result<Then>> {
        if self.pieces.is_empty() && !(live && self.unflushed) {
            return Poll::Pending;
        }
        self.unflushed = !live;
        Poll::Ready(Ok(if live { Then::Flush } else { Then::More }))
    }

    fn end(&mut self) -> io::Result<Then> {
        if self.owed.is_some_and(|owed| owed > 0) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.complete = true;
        Ok(Then::Finish)
    }
}
