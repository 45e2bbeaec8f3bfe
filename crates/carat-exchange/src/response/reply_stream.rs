use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use crate::memory::{MemoryReservation, StreamCredit};

/// The worker's side of a streamed response.
pub trait ReplySource {
    /// The worker may send this many more bytes.
    fn grant(&self, bytes: u32);
    /// The rest of the response will not be read.
    fn abandoned(&self);
}

/// The end of a streamed response that the client's connection reads.
pub struct ReplyStream {
    shared: Rc<RefCell<SharedReply>>,
    source: Box<dyn ReplySource>,
}

/// The end of a streamed response that its lane fills.
#[derive(Debug)]
pub struct ReplySender(Weak<RefCell<SharedReply>>);

#[derive(Debug)]
struct SharedReply {
    /// The pieces that the client has not read: at most `carat_wire::stream::STREAM_WINDOW` bytes, because the worker
    /// does not exceed its credit.
    pieces: VecDeque<Bytes>,
    /// The memory reserved for `pieces`.
    held: MemoryReservation,
    credit: StreamCredit,
    end: Option<ReplyEnd>,
    waker: Option<Waker>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplyEnd {
    Complete,
    Aborted,
}

/// The two ends of a streamed response. `held` counts the bytes that the client has not read, and `credit` the bytes
/// that the worker may send.
pub fn reply_stream(
    source: Box<dyn ReplySource>,
    held: MemoryReservation,
    credit: StreamCredit,
) -> (ReplySender, ReplyStream) {
    let shared = Rc::new(RefCell::new(SharedReply {
        pieces: VecDeque::new(),
        held,
        credit,
        end: None,
        waker: None,
    }));
    (
        ReplySender(Rc::downgrade(&shared)),
        ReplyStream { shared, source },
    )
}

impl ReplySender {
    /// Passes a piece on, or drops it when the response is not read any more.
    pub fn send(&self, piece: Bytes) {
        self.change(|shared| {
            shared.credit.spend(piece.len());
            shared.held.grow(piece.len());
            shared.pieces.push_back(piece);
        });
    }

    /// Ends the response, which is complete.
    pub fn finish(&self) {
        self.change(|shared| shared.end = Some(ReplyEnd::Complete));
    }

    /// The rest of the response will not arrive.
    pub fn abort(&self) {
        self.change(|shared| shared.end = Some(ReplyEnd::Aborted));
    }

    fn change(&self, change: impl FnOnce(&mut SharedReply)) {
        if let Some(shared) = self.0.upgrade() {
            let mut shared = shared.borrow_mut();
            change(&mut shared);
            if let Some(waker) = shared.waker.take() {
                waker.wake();
            }
        }
    }
}

impl ReplyStream {
    /// The next piece, `None` at the end, an error when the response was aborted.
    pub fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let mut shared = self.shared.borrow_mut();
        if let Some(piece) = shared.pieces.pop_front() {
            shared.held.shrink(piece.len());
            let held = shared.held.bytes();
            let granted = shared.credit.renew(held);
            drop(shared);
            if let Some(bytes) = granted {
                self.source.grant(bytes);
            }
            return Poll::Ready(Some(Ok(piece)));
        }
        match shared.end {
            Some(ReplyEnd::Complete) => Poll::Ready(None),
            Some(ReplyEnd::Aborted) => Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into()))),
            None => {
                shared.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for ReplyStream {
    fn drop(&mut self) {
        if self.shared.borrow().end.is_none() {
            self.source.abandoned();
        }
    }
}

impl fmt::Debug for ReplyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyStream")
            .field("shared", &self.shared)
            .finish_non_exhaustive()
    }
}
