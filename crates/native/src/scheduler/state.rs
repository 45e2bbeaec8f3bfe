//! What a scheduler knows: who waits for what, and who may go on. It calls nothing of Ruby.

use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use rb_sys::VALUE;
use rustix::io::Errno;

use super::batch::Batch;
use super::line::{Line, Ready};
use super::selector::{Selector, Watch};
use super::timeouts::{Timeout, Timeouts};
use super::timers::{Purpose, Timers};
use super::waits::{Outcome, Ticket, Wait, Waits};

/// What to wait for.
#[derive(Debug, Default)]
pub(crate) struct Wish<'a> {
    pub(crate) limit: Option<Duration>,
    pub(crate) is_block: bool,
    pub(crate) descriptors: &'a [(RawFd, u16)],
    /// The wait is over as soon as the others had their turn.
    pub(crate) is_pause: bool,
}

/// One thread's waits, timers and queue.
#[derive(Debug, Default)]
pub(crate) struct State {
    waits: Waits,
    timers: Timers,
    timeouts: Timeouts,
    line: Line,
    selector: Option<Selector>,
    /// Waits until it is the only one.
    last: Option<Ticket>,
}

impl State {
    /// Begins a wait.
    pub(crate) fn enter(
        &mut self,
        fiber: VALUE,
        wish: &Wish<'_>,
        now: Instant,
    ) -> Result<Ticket, Errno> {
        let mut wait = Wait::new(fiber);
        wait.is_block = wish.is_block;
        wait.deadline = wish.limit.and_then(|limit| now.checked_add(limit));
        let deadline = wait.deadline;
        let ticket = self.waits.add(wait);
        for &(number, events) in wish.descriptors {
            if let Err(errno) = self.watch(ticket, number, events) {
                self.leave(ticket);
                return Err(errno);
            }
        }
        if let Some(deadline) = deadline {
            self.timers.add(deadline, Purpose::Wait(ticket));
        }
        if wish.is_pause {
            self.wake(ticket, Outcome::Unblocked);
        }
        Ok(ticket)
    }

    /// Begins a wait for the end of all others.
    pub(crate) fn enter_last(&mut self, fiber: VALUE) -> Ticket {
        let ticket = self.waits.add(Wait::new(fiber));
        self.last = Some(ticket);
        ticket
    }

    /// Wakes the one who waits for the others, if they have ended.
    pub(crate) fn wake_last(&mut self) {
        if self.waits.len() == 1
            && self.line.is_empty()
            && let Some(ticket) = self.last.take()
        {
            self.wake(ticket, Outcome::Unblocked);
        }
    }

    fn watch(&mut self, ticket: Ticket, number: RawFd, events: u16) -> Result<(), Errno> {
        if self.selector()?.watch(number, ticket, events)? == Watch::AlwaysReady {
            self.wake(ticket, Outcome::Ready(events));
        } else if let Some(wait) = self.waits.get_mut(ticket) {
            match wait.descriptor {
                None => wait.descriptor = Some(number),
                Some(_) => wait.others.push(number),
            }
        }
        Ok(())
    }

    /// Ends a wait, however it came; `None` when nothing has woken it.
    pub(crate) fn leave(&mut self, ticket: Ticket) -> Option<Outcome> {
        let wait = self.waits.remove(ticket)?;
        if let Some(deadline) = wait.deadline {
            self.timers.cancel(deadline, Purpose::Wait(ticket));
        }
        if let Some(selector) = &mut self.selector {
            for number in wait.descriptor.into_iter().chain(wait.others) {
                selector.unwatch(number, ticket);
            }
        }
        wait.outcome
    }

    /// Lets the waiting fiber go on; the first reason counts.
    pub(crate) fn wake(&mut self, ticket: Ticket, outcome: Outcome) {
        if let Some(wait) = self.waits.get_mut(ticket)
            && wait.outcome.is_none()
        {
            wait.outcome = Some(outcome);
            self.line.join(Ready::Ticket(ticket));
        }
    }

    pub(crate) fn is_woken(&self, ticket: Ticket) -> bool {
        self.waits
            .get(ticket)
            .is_some_and(|wait| wait.outcome.is_some())
    }

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

    /// Wakes those who wait for this descriptor, which is about to be closed. False when there are none.
    pub(crate) fn close(&mut self, number: RawFd) -> bool {
        let waiters = self
            .selector
            .as_mut()
            .map_or_else(Vec::new, |selector| selector.forget(number));
        for ticket in &waiters {
            self.wake(*ticket, Outcome::Closed);
        }
        !waiters.is_empty()
    }

    /// Ends all waits.
    pub(crate) fn cancel(&mut self) {
        for ticket in self.waits.tickets() {
            self.wake(ticket, Outcome::Cancelled);
        }
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
            let wait = ticket.and_then(|ticket| self.waits.get_mut(ticket));
            if let Some(wait) = wait
                && (wait.outcome.is_some() == matches!(ready, Ready::Ticket(_)))
                && (wait.outcome.is_some() || wait.is_block)
            {
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

    /// Whether a fiber may go on.
    pub(crate) fn is_busy(&self) -> bool {
        !self.line.is_empty()
    }

    /// Whether nobody waits and nobody may go on.
    pub(crate) fn is_over(&self) -> bool {
        self.waits.len() == 0 && self.line.is_empty()
    }

    /// Wakes whose time is over. Returns the timeouts whose fibers do not wait here.
    pub(crate) fn expire(&mut self, now: Instant) -> Vec<u64> {
        let mut elsewhere = Vec::new();
        while let Some(purpose) = self.timers.pop(now) {
            match purpose {
                Purpose::Wait(ticket) => self.wake(ticket, Outcome::TimedOut),
                Purpose::Timeout(number) => elsewhere.extend(self.expire_timeout(number)),
            }
        }
        elsewhere
    }

    /// A fiber that has been woken already has to go on first: it may have been given a lock that others wait for.
    fn expire_timeout(&mut self, number: u64) -> Option<u64> {
        let timeout = self.timeouts.get(number)?;
        let Some(ticket) = self.waits.of_fiber(timeout.fiber) else {
            return Some(number);
        };
        if self.is_woken(ticket) {
            self.timeouts.postpone(number);
        } else {
            self.wake(ticket, Outcome::Expired(number));
        }
        None
    }

    pub(crate) fn next_in(&self, now: Instant) -> Option<Duration> {
        self.timers.next_in(now)
    }

    pub(crate) fn wait_count(&self) -> usize {
        self.waits.len()
    }

    pub(crate) fn add_timeout(&mut self, timeout: Timeout) -> u64 {
        let number = self.timeouts.add(timeout);
        self.timers.add(timeout.deadline, Purpose::Timeout(number));
        number
    }

    pub(crate) fn remove_timeout(&mut self, number: u64) {
        if let Some(timeout) = self.timeouts.remove(number) {
            self.timers
                .cancel(timeout.deadline, Purpose::Timeout(number));
        }
    }

    pub(crate) fn timeouts(&mut self) -> &mut Timeouts {
        &mut self.timeouts
    }

    /// The epoll instance, opened when it is first needed.
    pub(crate) fn selector(&mut self) -> Result<&mut Selector, Errno> {
        if self.selector.is_none() {
            self.selector = Some(Selector::open()?);
        }
        Ok(self.selector.as_mut().expect("it was just opened"))
    }

    pub(crate) fn ring(&self) {
        if let Some(selector) = &self.selector {
            crate::bell::ring(selector.bell());
        }
    }

    pub(crate) fn watches_nothing(&self) -> bool {
        self.selector.as_ref().is_none_or(Selector::is_idle)
    }

    pub(crate) fn deal(&mut self, batch: &Batch) {
        let Some(mut selector) = self.selector.take() else {
            return;
        };
        selector.deal(batch, |ticket, ready| {
            self.wake(ticket, Outcome::Ready(ready));
        });
        self.selector = Some(selector);
    }

    /// Gives back what the kernel holds for it.
    pub(crate) fn close_selector(&mut self) {
        self.selector = None;
    }

    /// In a forked process only the fiber that forked goes on: the others belong to the parent, and so do the kernel
    /// objects, of which this process closes its copies.
    pub(crate) fn start_over(&mut self, fiber: VALUE) {
        self.timeouts.retain(fiber);
        let timeouts = std::mem::take(&mut self.timeouts);
        *self = State::default();
        for (number, timeout) in timeouts.iter() {
            self.timers.add(timeout.deadline, Purpose::Timeout(number));
        }
        self.timeouts = timeouts;
    }

    /// Every Ruby object that is known here.
    pub(crate) fn each_object(&self, mut see: impl FnMut(VALUE)) {
        for wait in self.waits.iter() {
            see(wait.fiber);
            if let Some(Outcome::Raised(exception)) = wait.outcome {
                see(exception);
            }
        }
        self.line.each_object(&mut see);
        for (_, timeout) in self.timeouts.iter() {
            for object in [timeout.fiber, timeout.exception, timeout.message] {
                see(object);
            }
        }
    }
}
