use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use carat_guard::FrameFlood;

/// What was noticed in the frames of a client before h2 has read them.
#[derive(Debug, Default)]
pub(super) struct FrameNotes {
    flood: Cell<Option<FrameFlood>>,
    /// The streams whose `:path` has a fragment and which h2 has yet to return, in the order in which they came.
    fragments: RefCell<VecDeque<u32>>,
}

/// Requests with a fragment that may wait until h2 returns them. It never returns those that it refuses.
const FRAGMENTS_LIMIT: usize = 1000;

impl FrameNotes {
    /// Which frames the client has sent too many of.
    pub(super) fn flood(&self) -> Option<FrameFlood> {
        self.flood.get()
    }

    pub(super) fn note_flood(&self, flood: FrameFlood) {
        self.flood.set(Some(flood));
    }

    pub(super) fn note_fragment(&self, stream: u32) {
        let mut fragments = self.fragments.borrow_mut();
        if fragments.len() == FRAGMENTS_LIMIT {
            self.note_flood(FrameFlood::Fragment);
        } else {
            fragments.push_back(stream);
        }
    }

    /// Whether the request of this stream has a fragment. h2 returns requests in the order in which they came.
    pub(super) fn has_fragment(&self, stream: u32) -> bool {
        let mut fragments = self.fragments.borrow_mut();
        while fragments.front().is_some_and(|first| *first < stream) {
            fragments.pop_front();
        }
        let has_fragment = fragments.front() == Some(&stream);
        if fragments.is_empty() || has_fragment && fragments.len() == 1 {
            *fragments = VecDeque::new();
        }
        has_fragment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_are_forgotten_when_a_later_request_comes() {
        let notes = FrameNotes::default();
        for stream in [1, 5, 7] {
            notes.note_fragment(stream);
        }
        let found = [1, 3, 7, 9].map(|stream| notes.has_fragment(stream));
        assert_eq!(found, [true, false, true, false]);
        assert_eq!(notes.fragments.borrow().capacity(), 0);
    }

    #[test]
    fn requests_with_fragments_that_h2_refuses_become_a_flood() {
        let notes = FrameNotes::default();
        (0..1000).for_each(|stream| notes.note_fragment(stream));
        assert_eq!(notes.flood(), None);
        notes.note_fragment(1000);
        assert_eq!(notes.flood(), Some(FrameFlood::Fragment));
    }
}
