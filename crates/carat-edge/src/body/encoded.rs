use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use carat_coding::Then;

use super::encoders::Seat;
use super::plain::Plain;

/// Gathering the pieces for the encoder ends with the one that reaches this.
const GATHERED_LIMIT: usize = 128 * 1024;

/// A body on its way through an encoder.
pub(super) struct Encoded {
    state: State,
    gather: Gather,
}

/// A turn of the encoder: it comes back with what has come out of it.
type Work = Pin<Box<dyn Future<Output = io::Result<(Box<Seat>, Bytes)>>>>;

enum State {
    Waiting(Box<Seat>),
    Working(Work),
    Over,
}

impl Encoded {
    /// `declared` is the plain body's length where the application alone knows it: a shorter body
    /// must not look complete only because it is well encoded.
    pub(super) fn new(seat: Seat, declared: Option<u64>) -> Encoded {
        Encoded {
            state: State::Waiting(Box::new(seat)),
            gather: Gather {
                owed: declared,
                ..Gather::default()
            },
        }
    }

    /// The next piece of `plain`, encoded.
    pub(super) fn poll_piece(
        &mut self,
        plain: &mut Plain,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Bytes>>> {
        loop {
            match &mut self.state {
                State::Over => return Poll::Ready(None),
                State::Waiting(_) => {
                    let then = ready!(self.gather.poll(plain, cx));
                    self.begin(then?);
                }
                State::Working(work) => {
                    let done = ready!(work.as_mut().poll(cx));
                    self.state = State::Over;
                    let (seat, bytes) = done?;
                    if !self.gather.complete {
                        self.state = State::Waiting(seat);
                    }
                    if !bytes.is_empty() {
                        return Poll::Ready(Some(Ok(bytes)));
                    }
                }
            }
        }
    }

    /// Gives the encoder what has been gathered.
    fn begin(&mut self, then: Then) {
        if let State::Waiting(seat) = std::mem::replace(&mut self.state, State::Over) {
            let pieces = std::mem::take(&mut self.gather.pieces);
            self.state = State::Working(Box::pin(seat.encode(pieces, then)));
        }
    }
}

/// Pieces of a body for the encoder: those that are there are encoded together.
#[derive(Default)]
struct Gather {
    pieces: Vec<Bytes>,
    /// Whether the encoder may still keep some of what it was given.
    unflushed: bool,
    /// How much of the body is still to come, where the application has said so.
    owed: Option<u64>,
    complete: bool,
}

impl Gather {
    /// What the encoder is to do with the pieces, which are ready by then.
    fn poll(&mut self, plain: &mut Plain, cx: &mut Context<'_>) -> Poll<io::Result<Then>> {
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

    /// There is nothing more for now: a client that waits for what is being made gets what there
    /// is, while the rest of a file is about to come.
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
