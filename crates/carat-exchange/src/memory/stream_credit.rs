use std::rc::Rc;

use carat_wire::stream::{SHORT_STREAM_WINDOW, STREAM_WINDOW};

use crate::memory::client_memory::ClientMemory;

/// The bytes that a worker may send of a streamed response before the edge grants more.
///
/// Each dispatched request has a credit. It is a whole window as long as memory is not short. All credits together stay
/// within their share of `client_memory`.
#[derive(Debug)]
pub struct StreamCredit {
    memory: Rc<ClientMemory>,
    bytes: u64,
}

impl StreamCredit {
    /// The credit of a request that is about to be dispatched.
    pub fn of(memory: &Rc<ClientMemory>) -> StreamCredit {
        let mut credit = StreamCredit {
            memory: Rc::clone(memory),
            bytes: 0,
        };
        credit.grow(credit.window());
        credit
    }

    /// Whether the credit is less than a window.
    pub fn is_short(&self) -> bool {
        self.bytes < STREAM_WINDOW.into()
    }

    /// Notes that the worker has sent this many bytes.
    pub fn spend(&mut self, bytes: usize) {
        // A worker that exceeds its credit does not make the credit grow.
        let spent = self.bytes.min(bytes as u64);
        self.bytes -= spent;
        self.memory.take_back(spent);
    }

    /// Grows the credit to a window again, if at least half of it is free. Returns how many more bytes the worker may
    /// send. `held` are the bytes that the client has not taken yet.
    pub fn renew(&mut self, held: u64) -> Option<u32> {
        let window = self.window();
        let granted = window.saturating_sub(held + self.bytes);
        if granted < window / 2 {
            return None;
        }
        self.grow(granted);
        u32::try_from(granted).ok()
    }

    fn window(&self) -> u64 {
        let window = STREAM_WINDOW.into();
        if self.memory.may_promise(window) {
            window
        } else {
            SHORT_STREAM_WINDOW.into()
        }
    }

    fn grow(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.memory.promise(bytes);
    }
}

impl Drop for StreamCredit {
    fn drop(&mut self) {
        self.memory.take_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: u64 = STREAM_WINDOW as u64;
    const SHORT: u64 = SHORT_STREAM_WINDOW as u64;

    #[test]
    fn windows_are_whole_while_they_have_a_quarter_of_the_memory() {
        let memory = ClientMemory::new(16 * WINDOW);
        let mut credits: Vec<_> = (0..6).map(|_| StreamCredit::of(&memory)).collect();
        let short: Vec<_> = credits.iter().map(StreamCredit::is_short).collect();
        assert_eq!(short, [false, false, false, false, true, true]);
        assert_eq!(memory.promised(), 4 * WINDOW + 2 * SHORT);
        credits.clear();
        assert_eq!(memory.promised(), 0);
        let holder = memory.account();
        holder.take(12 * WINDOW);
        assert!(StreamCredit::of(&memory).is_short());
    }

    #[test]
    fn a_window_grows_as_the_client_reads_and_as_memory_allows() {
        let memory = ClientMemory::new(16 * WINDOW);
        let others: Vec<_> = (0..4).map(|_| StreamCredit::of(&memory)).collect();
        let mut credit = StreamCredit::of(&memory);
        credit.spend(SHORT_STREAM_WINDOW as usize);
        assert_eq!(credit.renew(SHORT), None, "the client has read nothing");
        assert_eq!(credit.renew(SHORT / 2 + 1), None);
        assert_eq!(credit.renew(SHORT / 2), Some(SHORT_STREAM_WINDOW / 2));
        drop(others);
        let found = credit.renew(0);
        assert_eq!(found, Some(STREAM_WINDOW - SHORT_STREAM_WINDOW / 2));
        assert_eq!(credit.renew(0), None);
        credit.spend(usize::MAX);
        assert_eq!(memory.promised(), 0);
    }
}
