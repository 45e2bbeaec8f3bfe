use std::cell::Cell;

use carat_guard::MessagePosition;

/// The progress of a request's body.
#[derive(Debug)]
pub struct BodyProgress {
    position: Cell<MessagePosition>,
    bytes: Cell<u64>,
    is_paused: Cell<bool>,
    pauses: Cell<u32>,
    is_streamed: Cell<bool>,
}

impl Default for BodyProgress {
    fn default() -> Self {
        BodyProgress {
            position: Cell::new(MessagePosition::BetweenMessages),
            bytes: Cell::new(0),
            is_paused: Cell::new(false),
            pauses: Cell::new(0),
            is_streamed: Cell::new(false),
        }
    }
}

impl BodyProgress {
    /// The headers of the next request have arrived.
    pub(crate) fn begin(&self) {
        self.bytes.set(0);
        self.is_paused.set(false);
        self.is_streamed.set(false);
    }

    /// Sets where the guard is in the stream of messages.
    pub fn set_position(&self, position: MessagePosition) {
        self.position.set(position);
    }

    pub(crate) fn position(&self) -> MessagePosition {
        self.position.get()
    }

    /// Counts bytes of the body.
    pub fn count(&self, bytes: usize) {
        self.bytes.set(self.bytes.get() + bytes as u64);
    }

    /// Bytes of the body so far, framing included.
    pub fn bytes(&self) -> u64 {
        self.bytes.get()
    }

    /// Whether the client has sent the complete body.
    pub fn has_arrived(&self) -> bool {
        self.position.get() != MessagePosition::InBody
    }

    /// Sets whether the server currently does not read the rest of the body.
    pub fn pause(&self, paused: bool) {
        self.is_streamed.set(true);
        if self.is_paused.replace(paused) != paused {
            self.pauses.set(self.pauses.get().wrapping_add(1));
        }
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.is_paused.get()
    }

    /// Whether the application reads the body while it arrives.
    pub fn is_streamed(&self) -> bool {
        self.is_streamed.get()
    }

    /// A number that changes whenever the body is paused or resumed.
    pub fn pauses(&self) -> u32 {
        self.pauses.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_counts_when_it_begins_and_when_it_ends() {
        let body = BodyProgress::default();
        for (paused, pauses) in [(false, 0), (true, 1), (true, 1), (false, 2)] {
            body.pause(paused);
            assert_eq!((body.is_paused(), body.pauses()), (paused, pauses));
        }
        assert!(body.is_streamed());
        body.begin();
        assert_eq!((body.is_streamed(), body.pauses()), (false, 2));
    }
}
