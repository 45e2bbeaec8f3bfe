use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

/// Who is told how a streamed answer is read.
pub(crate) trait Upstream {
    /// The client has taken this many bytes: as many more may come.
    fn taken(&self, bytes: u32);
    /// Nobody reads the rest.
    fn abandoned(&self);
}

/// A streamed answer as the client's connection reads it.
pub(crate) struct StreamBody {
    shared: Rc<RefCell<Shared>>,
    upstream: Box<dyn Upstream>,
}

/// A streamed answer as its lane fills it.
#[derive(Debug)]
pub(crate) struct StreamSender(Weak<RefCell<Shared>>);

#[derive(Debug, Default)]
struct Shared {
    /// At most `carat_wire::stream::WINDOW_LIMIT` bytes: the worker may not send more.
    pieces: VecDeque<Bytes>,
    end: Option<End>,
    waker: Option<Waker>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Complete,
    Broken,
}

/// The two ends of a streamed answer.
pub(crate) fn stream(upstream: Box<dyn Upstream>) -> (StreamSender, StreamBody) {
    let shared = Rc::new(RefCell::new(Shared::default()));
    (
        StreamSender(Rc::downgrade(&shared)),
        StreamBody { shared, upstream },
    )
}

impl StreamSender {
    /// Passes a piece on; it is dropped when nobody reads any more.
    pub(crate) fn send(&self, piece: Bytes) {
        self.change(|shared| shared.pieces.push_back(piece));
    }

    /// The answer is complete.
    pub(crate) fn finish(&self) {
        self.change(|shared| shared.end = Some(End::Complete));
    }

    /// The answer will not be completed.
    pub(crate) fn fail(&self) {
        self.change(|shared| shared.end = Some(End::Broken));
    }

    fn change(&self, change: impl FnOnce(&mut Shared)) {
        if let Some(shared) = self.0.upgrade() {
            let mut shared = shared.borrow_mut();
            change(&mut shared);
            if let Some(waker) = shared.waker.take() {
                waker.wake();
            }
        }
    }
}

impl StreamBody {
    /// The next piece, `None` at the end, an error when the worker has given up.
    pub(crate) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let mut shared = self.shared.borrow_mut();
        if let Some(piece) = shared.pieces.pop_front() {
            drop(shared);
            self.upstream
                .taken(u32::try_from(piece.len()).expect("a frame is smaller"));
            return Poll::Ready(Some(Ok(piece)));
        }
        match shared.end {
            Some(End::Complete) => Poll::Ready(None),
            Some(End::Broken) => Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into()))),
            None => {
                shared.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for StreamBody {
    fn drop(&mut self) {
        if self.shared.borrow().end.is_none() {
            self.upstream.abandoned();
        }
    }
}

impl fmt::Debug for StreamBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamBody")
            .field("shared", &self.shared)
            .finish_non_exhaustive()
    }
}
