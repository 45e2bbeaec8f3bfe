//! What a scheduler knows: who waits for what, and who may go on. It calls nothing of Ruby.

mod expiry;
mod turns;

use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use rb_sys::VALUE;
use rustix::io::Errno;

use super::batch::Batch;
use super::line::{Line, Ready};
use super::selector::{PRIORITY, Selector, Watch};
use super::timeouts::Timeouts;
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
        if self.waits.len() != 1 || !self.line.is_empty() {
            return;
        }
        if let Some(ticket) = self.last.take() {
            self.wake(ticket, Outcome::Unblocked);
        }
    }

    fn watch(&mut self, ticket: Ticket, number: RawFd, events: u16) -> Result<(), Errno> {
        if self.selector()?.watch(number, ticket, events)? == Watch::AlwaysReady {
            let ready = events & !PRIORITY;
            if ready != 0 {
                self.wake(ticket, Outcome::Ready(ready));
            }
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
        let Some(wait) = self.waits.get_mut(ticket) else {
            return;
        };
        if wait.outcome.is_none() {
            wait.outcome = Some(outcome);
            self.line.join(Ready::Ticket(ticket));
        }
    }

    pub(crate) fn is_woken(&self, ticket: Ticket) -> bool {
        self.waits
            .get(ticket)
            .is_some_and(|wait| wait.outcome.is_some())
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

    /// Whether nobody waits and nobody may go on.
    pub(crate) fn is_over(&self) -> bool {
        self.waits.len() == 0 && self.line.is_empty()
    }

    pub(crate) fn wait_count(&self) -> usize {
        self.waits.len()
    }

    /// The epoll instance, opened when it is first needed.
    pub(crate) fn selector(&mut self) -> Result<&mut Selector, Errno> {
        if self.selector.is_none() {
            self.selector = Some(Selector::open()?);
        }
        Ok(self.selector.as_mut().expect("it was just opened"))
    }

    pub(crate) fn notify(&self) {
        if let Some(selector) = &self.selector {
            crate::waker::notify(selector.waker());
        }
    }

    /// Whether epoll has this descriptor, or had its number.
    pub(crate) fn watches(&self, number: RawFd) -> bool {
        let selector = self.selector.as_ref();
        selector.is_some_and(|selector| selector.is_registered(number))
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
