//! The fibers that may go on, in the order in which they do: round by round, with a look at descriptors and timers in
//! between.

use std::collections::VecDeque;

use rb_sys::VALUE;

use super::waits::Ticket;

/// How many may be let in first in a round of fewer. Without a bound, two fibers that wake each other would keep the rest
/// waiting.
const FAVOURS: usize = 64;

/// Who may go on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ready {
    /// The one whose wait is over.
    Ticket(Ticket),
    /// One that was unblocked before it blocked, which it is about to do.
    Early(VALUE),
    /// One that has switched to another fiber by itself, with `Fiber#raise` or `Fiber#kill`.
    Stranded(VALUE),
}

/// The line in which they wait.
#[derive(Debug, Default)]
pub(crate) struct Line {
    ready: VecDeque<Ready>,
    /// How many of the present round are still to go on; they stand in front.
    round: usize,
    /// How many of them were let in first, and stand before the others.
    first: usize,
    /// How many may still be let in first.
    favours: usize,
}

impl Line {
    /// Who is in line by now goes on in this round; who joins later, in the next.
    pub(crate) fn begin_round(&mut self) {
        self.round = self.ready.len();
        self.first = 0;
        self.favours = self.round.max(FAVOURS);
    }

    pub(crate) fn join(&mut self, ready: Ready) {
        self.ready.push_back(ready);
    }

    /// For one that another fiber has let go on: it comes before the others of this round. What it was woken for (a
    /// lock, a connection of a pool) they might take, and it would have to stand in line anew.
    pub(crate) fn join_first(&mut self, ready: Ready) {
        if self.favours == 0 {
            return self.join(ready);
        }
        self.favours -= 1;
        self.ready.insert(self.first, ready);
        self.first += 1;
        self.round += 1;
    }

    /// How many are in line before the others.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// The next of this round.
    pub(crate) fn take(&mut self) -> Option<Ready> {
        self.round = self.round.checked_sub(1)?;
        self.first = self.first.saturating_sub(1);
        self.ready.pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// Every Ruby object that is known here.
    pub(crate) fn each_object(&self, see: &mut impl FnMut(VALUE)) {
        for ready in &self.ready {
            if let Ready::Early(fiber) | Ready::Stranded(fiber) = ready {
                see(*fiber);
            }
        }
    }
}
