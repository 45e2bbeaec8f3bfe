use std::cell::Cell;

use crate::response::Refusal;

/// How a connection is to end.
#[derive(Debug, Default)]
pub struct CloseState {
    refusal: Cell<Option<Refusal>>,
    lingers: Cell<bool>,
    ends_by_close: Cell<bool>,
    is_broken_off: Cell<bool>,
}

impl CloseState {
    /// Stops reading from this connection. Only the first refusal counts.
    pub fn refuse(&self, refusal: Refusal) {
        if self.refusal.get().is_none() {
            self.refusal.set(Some(refusal));
        }
    }

    /// Why reading stopped.
    pub fn refusal(&self) -> Option<Refusal> {
        self.refusal.get()
    }

    /// Notes that a response has already reported the refusal.
    pub fn refusal_sent(&self) {
        self.refusal.set(None);
    }

    /// Makes the connection drain before it is closed. If bytes of the client were unread, the kernel would reset the
    /// connection, and the client would lose its response.
    pub fn linger(&self) {
        self.lingers.set(true);
    }

    /// Whether the connection must be drained after its last response.
    pub fn must_linger(&self) -> bool {
        self.lingers.get()
    }

    /// Sets whether only the end of the connection ends the body of the response.
    pub(crate) fn set_ends_by_close(&self, ends_by_close: bool) {
        self.ends_by_close.set(ends_by_close);
    }

    /// Notes that the body of the response broke off.
    pub fn break_off(&self) {
        self.is_broken_off.set(true);
    }

    /// Whether the connection must be reset, because an orderly end would make an incomplete response
    /// look complete (RFC 9112, section 8).
    pub fn must_reset(&self) -> bool {
        self.is_broken_off.get() && self.ends_by_close.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_refusal_counts_until_it_is_sent() {
        let end = CloseState::default();
        end.refuse(Refusal::TooSlow);
        end.refuse(Refusal::ClientMemory);
        assert_eq!(end.refusal(), Some(Refusal::TooSlow));
        end.refusal_sent();
        assert_eq!(end.refusal(), None);
    }
}
