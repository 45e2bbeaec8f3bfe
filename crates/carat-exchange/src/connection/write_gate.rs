use std::cell::{Cell, RefCell};
use std::task::Waker;

use crate::memory::MemoryAccount;

/// Whether a client reads what is written. While it does not, the body of the response waits, and the piece that hyper
/// holds counts as memory of the client.
#[derive(Debug, Default)]
pub struct WriteGate {
    is_blocked: Cell<bool>,
    /// The last piece of the response that hyper took, in bytes.
    piece_bytes: Cell<u64>,
    /// The unread bytes that count on the account.
    unread_bytes: Cell<u64>,
    waiting_body: RefCell<Option<Waker>>,
}

impl WriteGate {
    pub(crate) fn is_blocked(&self) -> bool {
        self.is_blocked.get()
    }

    pub(crate) fn set_blocked(&self, blocked: bool, memory: &MemoryAccount) {
        if self.is_blocked.replace(blocked) != blocked {
            self.hold_piece(blocked, memory);
        }
        if !blocked {
            if let Some(waker) = self.waiting_body.take() {
                waker.wake();
            }
        }
    }

    /// Notes that hyper takes a piece of the response.
    pub fn note_piece(&self, bytes: usize) {
        self.piece_bytes.set(bytes as u64);
    }

    /// Wakes `waker` when the client has taken what was written before.
    pub(crate) fn wait(&self, waker: &Waker) {
        self.waiting_body.replace(Some(waker.clone()));
    }

    /// Counts the piece that hyper holds, or stops counting it.
    fn hold_piece(&self, held: bool, memory: &MemoryAccount) {
        if held {
            self.unread_bytes.set(self.piece_bytes.get());
            memory.take(self.unread_bytes.get());
        } else {
            memory.give_back(self.unread_bytes.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::ClientMemory;

    #[test]
    fn a_piece_counts_only_while_the_client_does_not_read() {
        let memory = ClientMemory::new(u64::MAX);
        let (gate, account) = (WriteGate::default(), memory.account());
        let before = account.held();
        gate.note_piece(1000);
        gate.set_blocked(true, &account);
        gate.note_piece(0);
        gate.set_blocked(true, &account);
        assert_eq!(account.held(), before + 1000);
        gate.set_blocked(false, &account);
        assert_eq!(account.held(), before);
    }
}
