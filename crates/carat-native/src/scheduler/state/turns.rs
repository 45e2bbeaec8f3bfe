//! Whose turn it is.

use rb_sys::VALUE;

use super::State;
use crate::scheduler::line::Ready;
use crate::scheduler::waits::Outcome;

impl State {
    /// Wakes a fiber that blocks; one that does not, but is about to, when its turn comes. What it is given (a lock, an
    /// element) nobody else is, so this counts more than a time that has run out before it could go on.
    pub(crate) fn unblock(&mut self, fiber: VALUE) {
        let Some(ticket) = self.waits.of_fiber(fiber) else {
            self.line.join(Ready::Early(fiber));
            return;
        };
        let Some(wait) = self.waits.get_mut(ticket).filter(|wait| wait.is_block) else {
            return;
        };
        match wait.outcome {
            None => {
                wait.outcome = Some(Outcome::Unblocked);
                self.line.join_first(Ready::Ticket(ticket));
            }
            Some(Outcome::TimedOut) => wait.outcome = Some(Outcome::Unblocked),
            Some(Outcome::Expired(number)) => {
                wait.outcome = Some(Outcome::Unblocked);
                self.timeouts.postpone(number);
            }
            Some(_) => {}
        }
    }

    /// Has `exception` raised in a fiber that waits. False when it does not.
    pub(crate) fn interrupt(&mut self, fiber: VALUE, exception: VALUE) -> bool {
        let Some(ticket) = self.waits.of_fiber(fiber) else {
            return false;
        };
        self.wake(ticket, Outcome::Raised(exception));
        true
    }

    /// A fiber that switched to another by itself goes on when its turn comes.
    pub(crate) fn strand(&mut self, fiber: VALUE) {
        self.line.join(Ready::Stranded(fiber));
    }

    /// Lets a fiber go on when its turn comes. One that does not wait here has not begun yet.
    pub(crate) fn push(&mut self, fiber: VALUE) {
        if !self.rouse(fiber) {
            self.strand(fiber);
        }
    }

    /// Wakes a fiber that blocks. False when it does not wait here.
    pub(crate) fn rouse(&mut self, fiber: VALUE) -> bool {
        let is_waiting = self.waits.of_fiber(fiber).is_some();
        if is_waiting {
            self.unblock(fiber);
        }
        is_waiting
    }

    /// The next fiber of the present round, and whether it is one that waits here.
    pub(crate) fn pop(&mut self) -> Option<(VALUE, bool)> {
        while let Some(ready) = self.line.take() {
            let ticket = match ready {
                Ready::Stranded(fiber) => return Some((fiber, false)),
                Ready::Ticket(ticket) => Some(ticket),
                Ready::Early(fiber) => self.waits.of_fiber(fiber),
            };
            let Some(wait) = ticket.and_then(|ticket| self.waits.get_mut(ticket)) else {
                continue;
            };
            let is_woken = wait.outcome.is_some();
            if is_woken == matches!(ready, Ready::Ticket(_)) && (is_woken || wait.is_block) {
                wait.outcome.get_or_insert(Outcome::Unblocked);
                return Some((wait.fiber, true));
            }
        }
        None
    }

    /// Lets each fiber go on that may go on by now.
    pub(crate) fn begin_round(&mut self) {
        self.line.begin_round();
    }

    /// How many fibers that others have woken are next in line.
    pub(crate) fn woken(&self) -> usize {
        self.line.first()
    }

    /// Whether a fiber may go on.
    pub(crate) fn is_busy(&self) -> bool {
        !self.line.is_empty()
    }
}
