use std::cell::RefCell;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::{Buf, Bytes};

use super::http2::UNSENT_LIMIT;
use carat_exchange::{MemoryAccount, MemoryReservation};

/// The bytes that the streams of one connection have passed to h2 and the socket has not taken.
pub(super) struct UnsentBytes(RefCell<Unsent>);

struct Unsent {
    bytes: MemoryReservation,
    /// Whether the socket takes nothing.
    is_blocked: bool,
    waiting: Vec<Waker>,
    /// Pieces of responses that were passed on with their last byte since the last call of
    /// `take_complete`.
    complete: u32,
}

/// A piece of a response on its way to the socket.
pub(super) struct SentPiece {
    bytes: Bytes,
    length: usize,
    unsent: Rc<UnsentBytes>,
}

impl Unsent {
    fn is_full(&self) -> bool {
        self.bytes.bytes() >= UNSENT_LIMIT as u64
    }

    fn wake(&mut self) {
        self.waiting.drain(..).for_each(Waker::wake);
    }
}

impl UnsentBytes {
    pub(super) fn new(account: &Rc<MemoryAccount>) -> Rc<UnsentBytes> {
        Rc::new(UnsentBytes(RefCell::new(Unsent {
            bytes: MemoryReservation::of(account),
            is_blocked: false,
            waiting: Vec::new(),
            complete: 0,
        })))
    }

    /// Whether a stream has to wait. Its task is woken when the socket has taken bytes.
    pub(super) fn is_full(&self, cx: &Context<'_>) -> bool {
        let is_full = self.0.borrow().is_full();
        is_full && self.wait(cx)
    }

    /// Whether headers have to wait: h2 would keep them without a bound while the socket takes nothing. The task is woken
    /// when the socket takes bytes again.
    pub(super) fn is_blocked(&self, cx: &Context<'_>) -> bool {
        let is_blocked = self.0.borrow().is_blocked;
        is_blocked && self.wait(cx)
    }

    /// Ready when h2 holds no part of this piece any more.
    pub(super) fn poll_sent(&self, piece: &Bytes, cx: &Context<'_>) -> Poll<()> {
        if piece.is_unique() {
            return Poll::Ready(());
        }
        self.wait(cx);
        Poll::Pending
    }

    /// Sets whether the socket takes nothing.
    pub(super) fn set_blocked(&self, is_blocked: bool) {
        let mut unsent = self.0.borrow_mut();
        if unsent.is_blocked && !is_blocked {
            unsent.wake();
        }
        unsent.is_blocked = is_blocked;
    }

    fn wait(&self, cx: &Context<'_>) -> bool {
        let waiting = &mut self.0.borrow_mut().waiting;
        if !waiting.iter().any(|it| it.will_wake(cx.waker())) {
            waiting.push(cx.waker().clone());
        }
        true
    }

    /// Notes that a piece of a response was passed on with its last byte.
    pub(super) fn note_complete(&self) {
        self.0.borrow_mut().complete += 1;
    }

    /// How many pieces were passed on with their last byte since the last call.
    pub(super) fn take_complete(&self) -> u32 {
        std::mem::take(&mut self.0.borrow_mut().complete)
    }

    /// Counts bytes as unsent until h2 drops the piece that has them.
    pub(super) fn piece(self: &Rc<Self>, bytes: Bytes) -> SentPiece {
        self.0.borrow_mut().bytes.grow(bytes.len());
        SentPiece {
            length: bytes.len(),
            bytes,
            unsent: Rc::clone(self),
        }
    }
}

impl Drop for SentPiece {
    fn drop(&mut self) {
        let mut unsent = self.unsent.0.borrow_mut();
        unsent.bytes.shrink(self.length);
        if !unsent.is_full() {
            unsent.wake();
        }
    }
}

impl Buf for SentPiece {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;
    use carat_exchange::ClientMemory;

    /// Counts how often a task is woken.
    #[derive(Default)]
    struct WakeCount(AtomicUsize);

    impl Wake for WakeCount {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn streams_wait_while_the_socket_takes_nothing() {
        let memory = ClientMemory::new(u64::MAX);
        let unsent = UnsentBytes::new(&memory.account());
        let woken = Arc::<WakeCount>::default();
        let waker = Waker::from(Arc::clone(&woken));
        let cx = Context::from_waker(&waker);
        assert!(!unsent.is_full(&cx));
        let piece = unsent.piece(Bytes::from(vec![0; UNSENT_LIMIT]));
        assert_eq!(memory.used(), UNSENT_LIMIT as u64);
        assert!(unsent.is_full(&cx) && unsent.is_full(&cx));
        drop(piece);
        assert!(!unsent.is_full(&cx));
        assert_eq!((memory.used(), woken.0.load(Ordering::Relaxed)), (0, 1));
    }

    #[test]
    fn headers_wait_until_the_socket_takes_bytes() {
        let unsent = UnsentBytes::new(&ClientMemory::new(u64::MAX).account());
        let woken = Arc::<WakeCount>::default();
        let waker = Waker::from(Arc::clone(&woken));
        let cx = Context::from_waker(&waker);
        assert!(!unsent.is_blocked(&cx));
        unsent.set_blocked(true);
        assert!(unsent.is_blocked(&cx) && !unsent.is_full(&cx));
        unsent.set_blocked(false);
        assert!(!unsent.is_blocked(&cx));
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    }
}
