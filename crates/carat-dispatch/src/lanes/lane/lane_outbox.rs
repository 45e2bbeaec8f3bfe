use std::cell::{Cell, RefCell};
use std::io;
use std::task::{Context, Poll, Waker};

use carat_exchange::MemoryReservation;
use carat_link::Outbox;

use crate::frames::FrameTransport;

/// A lane takes no request while its outbox has this many bytes.
pub(crate) const OUTBOX_LIMIT: usize = 1024 * 1024;

/// The frames that a lane has yet to send, and the task that sends them.
#[derive(Debug, Default)]
pub(crate) struct LaneOutbox {
    frames: RefCell<Outbox>,
    /// Whether a request had to wait because the outbox was full.
    was_full: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl LaneOutbox {
    /// Appends frames and wakes the task.
    pub(crate) fn push(&self, encode: impl FnOnce(&mut Vec<u8>)) {
        encode(self.frames.borrow_mut().buffer());
        self.wake();
    }

    /// Appends frames without waking the task, and returns how many bytes they have.
    pub(crate) fn append(&self, encode: impl FnOnce(&mut Outbox)) -> usize {
        let mut frames = self.frames.borrow_mut();
        let before = frames.len();
        encode(&mut frames);
        frames.len() - before
    }

    /// Sends the frames.
    pub(crate) fn poll_flush(
        &self,
        cx: &mut Context<'_>,
        socket: &impl FrameTransport,
    ) -> Poll<io::Result<()>> {
        socket.poll_flush(cx, &mut self.frames.borrow_mut())
    }

    /// Whether the outbox is full, so that a request has to wait.
    pub(crate) fn is_full(&self) -> bool {
        let is_full = self.frames.borrow().len() >= OUTBOX_LIMIT;
        if is_full {
            self.was_full.set(true);
        }
        is_full
    }

    /// Whether an outbox that was full has room again.
    pub(crate) fn has_recovered(&self) -> bool {
        self.was_full.get()
            && self.frames.borrow().len() < OUTBOX_LIMIT / 2
            && self.was_full.replace(false)
    }

    /// Counts the bytes that wait for the worker.
    pub(crate) fn count(&self, memory: &mut MemoryReservation) {
        let bytes = self.frames.borrow().len();
        if bytes as u64 != memory.bytes() {
            memory.set(bytes);
        }
    }

    /// Sets the task to wake when there is something to send. Called after a flush only: frames that
    /// are pushed while the task runs are flushed by it anyway.
    pub(crate) fn set_waker(&self, waker: &Waker) {
        self.waker.replace(Some(waker.clone()));
    }

    /// Lets the task send, or notice that the worker is dead.
    pub(crate) fn wake(&self) {
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_outbox_recovers_when_half_of_it_is_sent() {
        let outbox = LaneOutbox::default();
        assert!(!outbox.has_recovered());
        outbox.push(|out| out.resize(OUTBOX_LIMIT, 0));
        assert!(outbox.is_full() && !outbox.has_recovered());
        outbox.push(|out| out.truncate(OUTBOX_LIMIT / 2 - 1));
        assert!(outbox.has_recovered());
        assert!(!outbox.is_full() && !outbox.has_recovered());
    }
}
