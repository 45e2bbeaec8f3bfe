//! The state of a scheduler: which fibers wait, for what, and which may run.

mod expiry;
mod queue;
#[cfg(test)]
mod tests;

use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use crate::handle::Handle;
use crate::poller::{Armed, PRIORITY, Poller};
use crate::ready_queue::{ReadyFiber, ReadyQueue};
use crate::selector::Selector;
use crate::timeouts::Timeouts;
use crate::timers::{Purpose, Timers};
use crate::waits::{Wait, WaitId, WaitOutcome, Waits};

/// The events that a fiber waits for.
#[derive(Default)]
pub struct WaitRequest<'a> {
    /// How long the fiber waits at most; `None` for no limit.
    pub limit: Option<Duration>,
    /// Whether [`SchedulerState::unblock`] ends the wait.
    pub is_block: bool,
    /// Descriptors, each with the events that end the wait, as `poll` numbers them.
    pub descriptors: &'a [(RawFd, u16)],
    /// Whether the wait ends as soon as the other fibers have run.
    pub is_yield: bool,
}

/// The waits, the timers, and the queue of a thread.
pub struct SchedulerState<H, P> {
    waits: Waits<H>,
    timers: Timers,
    timeouts: Timeouts<H>,
    queue: ReadyQueue<H>,
    selector: Option<Selector<P>>,
    /// The fiber that waits until it is the only one.
    last: Option<WaitId>,
}

impl<H: Handle, P> Default for SchedulerState<H, P> {
    fn default() -> Self {
        SchedulerState {
            waits: Waits::default(),
            timers: Timers::default(),
            timeouts: Timeouts::default(),
            queue: ReadyQueue::default(),
            selector: None,
            last: None,
        }
    }
}

impl<H: Handle, P: Poller> SchedulerState<H, P> {
    /// Begins a wait.
    pub fn enter(
        &mut self,
        fiber: H,
        request: &WaitRequest<'_>,
        now: Instant,
    ) -> Result<WaitId, P::Error> {
        let mut wait = Wait::new(fiber);
        wait.is_block = request.is_block;
        wait.deadline = request.limit.and_then(|limit| now.checked_add(limit));
        let deadline = wait.deadline;
        let wait_id = self.waits.add(wait);
        for &(number, events) in request.descriptors {
            if let Err(error) = self.watch(wait_id, number, events) {
                self.leave(wait_id);
                return Err(error);
            }
        }
        if let Some(deadline) = deadline {
            self.timers.add(deadline, Purpose::Wait(wait_id));
        }
        if request.is_yield {
            self.wake(wait_id, WaitOutcome::Unblocked);
        }
        Ok(wait_id)
    }

    /// Begins a wait for the end of all others.
    pub fn enter_last(&mut self, fiber: H) -> WaitId {
        let wait_id = self.waits.add(Wait::new(fiber));
        self.last = Some(wait_id);
        wait_id
    }

    /// Wakes the fiber that waits for the end of all others, if they have ended.
    pub fn wake_last(&mut self) {
        if self.waits.len() != 1 || !self.queue.is_empty() {
            return;
        }
        if let Some(wait_id) = self.last.take() {
            self.wake(wait_id, WaitOutcome::Unblocked);
        }
    }

    fn watch(&mut self, wait_id: WaitId, number: RawFd, events: u16) -> Result<(), P::Error> {
        if self.selector()?.watch(number, wait_id, events)? == Armed::AlwaysReady {
            let ready = events & !PRIORITY;
            if ready != 0 {
                self.wake(wait_id, WaitOutcome::Ready(ready));
            }
        } else if let Some(wait) = self.waits.get_mut(wait_id) {
            match wait.descriptor {
                None => wait.descriptor = Some(number),
                Some(_) => wait.others.push(number),
            }
        }
        Ok(())
    }

    /// Ends a wait, and returns why it has ended; `None` when nothing has woken the fiber.
    pub fn leave(&mut self, wait_id: WaitId) -> Option<WaitOutcome<H>> {
        let wait = self.waits.remove(wait_id)?;
        if let Some(deadline) = wait.deadline {
            self.timers.cancel(deadline, Purpose::Wait(wait_id));
        }
        if let Some(selector) = &mut self.selector {
            for number in wait.descriptor.into_iter().chain(wait.others) {
                selector.unwatch(number, wait_id);
            }
        }
        wait.outcome
    }

    /// Wakes a fiber that waits; the first reason counts.
    fn wake(&mut self, wait_id: WaitId, outcome: WaitOutcome<H>) {
        let Some(wait) = self.waits.get_mut(wait_id) else {
            return;
        };
        if wait.outcome.is_none() {
            wait.outcome = Some(outcome);
            self.queue.push(ReadyFiber::Wait(wait_id));
        }
    }

    /// Whether something has ended this wait.
    pub fn is_woken(&self, wait_id: WaitId) -> bool {
        let wait = self.waits.get(wait_id);
        wait.is_some_and(|wait| wait.outcome.is_some())
    }

    /// Wakes the fibers that wait for this descriptor, which is about to be closed. Returns whether there were any.
    pub fn close(&mut self, number: RawFd) -> bool {
        let selector = self.selector.as_mut();
        let waiters = selector.map_or_else(Vec::new, |selector| selector.forget(number));
        for wait_id in &waiters {
            self.wake(*wait_id, WaitOutcome::Closed);
        }
        !waiters.is_empty()
    }

    /// Ends all waits.
    pub fn cancel(&mut self) {
        for wait_id in self.waits.wait_ids() {
            self.wake(wait_id, WaitOutcome::Cancelled);
        }
    }

    /// Whether no fiber waits and none may run.
    pub fn is_over(&self) -> bool {
        self.waits.len() == 0 && self.queue.is_empty()
    }

    /// How many fibers wait.
    pub fn wait_count(&self) -> usize {
        self.waits.len()
    }

    /// The selector, opened when it is first needed.
    pub fn selector(&mut self) -> Result<&mut Selector<P>, P::Error> {
        let selector = match self.selector.take() {
            Some(selector) => selector,
            None => Selector::new(P::open()?),
        };
        Ok(self.selector.insert(selector))
    }

    /// Ends a wait for events.
    pub fn notify(&self) {
        if let Some(selector) = &self.selector {
            selector.poller().notify();
        }
    }

    /// Whether the poller has this descriptor, or an earlier one of its number.
    pub fn watches(&self, number: RawFd) -> bool {
        let selector = self.selector.as_ref();
        selector.is_some_and(|selector| selector.is_registered(number))
    }

    /// Whether no fiber waits for a descriptor.
    pub fn watches_nothing(&self) -> bool {
        self.selector.as_ref().is_none_or(Selector::is_idle)
    }

    /// Wakes the fibers that wait for these events, each with the token of its descriptor.
    pub fn deliver(&mut self, events: impl Iterator<Item = (u64, u16)>) {
        let Some(mut selector) = self.selector.take() else {
            return;
        };
        for (token, flags) in events {
            selector.deliver(token, flags, |wait_id, ready| {
                self.wake(wait_id, WaitOutcome::Ready(ready));
            });
        }
        self.selector = Some(selector);
    }

    /// Closes the poller.
    pub fn close_selector(&mut self) {
        self.selector = None;
    }

    /// In a forked process, keeps only the fiber that forked. The others belong to the parent, as do the kernel's
    /// objects, whose copies this process closes.
    pub fn start_over(&mut self, fiber: H) {
        self.timeouts.retain(fiber);
        let timeouts = std::mem::take(&mut self.timeouts);
        *self = SchedulerState::default();
        for (number, timeout) in timeouts.iter() {
            self.timers.add(timeout.deadline, Purpose::Timeout(number));
        }
        self.timeouts = timeouts;
    }

    /// Calls `see` with every handle that is known here.
    pub fn each_handle(&self, mut see: impl FnMut(H)) {
        for wait in self.waits.iter() {
            see(wait.fiber);
            if let Some(WaitOutcome::Raised(exception)) = wait.outcome {
                see(exception);
            }
        }
        self.queue.each_handle(&mut see);
        for (_, timeout) in self.timeouts.iter() {
            for handle in [timeout.fiber, timeout.exception, timeout.message] {
                see(handle);
            }
        }
    }
}
