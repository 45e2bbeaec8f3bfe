//! The fibers that may run, the next one first.

use super::SchedulerState;
use crate::handle::Handle;
use crate::poller::Poller;
use crate::ready_queue::ReadyFiber;
use crate::waits::WaitOutcome;

impl<H: Handle, P: Poller> SchedulerState<H, P> {
    /// Wakes a fiber that blocks, or is about to. Only this fiber is given what it waited for (a lock, an element),
    /// so the wake-up counts more than a limit that was reached before the fiber could run.
    pub fn unblock(&mut self, fiber: H) {
        let Some(wait_id) = self.waits.of_fiber(fiber) else {
            self.queue.push(ReadyFiber::Early(fiber));
            return;
        };
        let Some(wait) = self.waits.get_mut(wait_id).filter(|wait| wait.is_block) else {
            return;
        };
        match wait.outcome {
            None => {
                wait.outcome = Some(WaitOutcome::Unblocked);
                self.queue.push_first(ReadyFiber::Wait(wait_id));
            }
            Some(WaitOutcome::TimedOut) => wait.outcome = Some(WaitOutcome::Unblocked),
            Some(WaitOutcome::Expired(number)) => {
                wait.outcome = Some(WaitOutcome::Unblocked);
                self.timeouts.postpone(number);
            }
            Some(_) => {}
        }
    }

    /// Raises `exception` in a fiber that waits. Returns whether it waits.
    pub fn interrupt(&mut self, fiber: H, exception: H) -> bool {
        let Some(wait_id) = self.waits.of_fiber(fiber) else {
            return false;
        };
        self.wake(wait_id, WaitOutcome::Raised(exception));
        true
    }

    /// Queues a fiber that switched to another by itself.
    pub fn strand(&mut self, fiber: H) {
        self.queue.push(ReadyFiber::Stranded(fiber));
    }

    /// Queues a fiber that blocks, or a new one, which has no wait here.
    pub fn push(&mut self, fiber: H) {
        if !self.rouse(fiber) {
            self.strand(fiber);
        }
    }

    /// Wakes a fiber that blocks. Returns whether it waits here.
    pub fn rouse(&mut self, fiber: H) -> bool {
        let is_waiting = self.waits.of_fiber(fiber).is_some();
        if is_waiting {
            self.unblock(fiber);
        }
        is_waiting
    }

    /// The next fiber of the present round, and whether it waits here.
    pub fn pop(&mut self) -> Option<(H, bool)> {
        while let Some(ready) = self.queue.pop() {
            let wait_id = match ready {
                ReadyFiber::Stranded(fiber) => return Some((fiber, false)),
                ReadyFiber::Wait(wait_id) => Some(wait_id),
                ReadyFiber::Early(fiber) => self.waits.of_fiber(fiber),
            };
            let Some(wait) = wait_id.and_then(|wait_id| self.waits.get_mut(wait_id)) else {
                continue;
            };
            let is_woken = wait.outcome.is_some();
            if is_woken == matches!(ready, ReadyFiber::Wait(_)) && (is_woken || wait.is_block) {
                wait.outcome.get_or_insert(WaitOutcome::Unblocked);
                return Some((wait.fiber, true));
            }
        }
        None
    }

    /// Begins a round with the fibers that may run now.
    pub fn begin_round(&mut self) {
        self.queue.begin_round();
    }

    /// How many fibers that others have unblocked run next.
    pub fn woken(&self) -> usize {
        self.queue.jumped()
    }

    /// Whether a fiber may run.
    pub fn is_busy(&self) -> bool {
        !self.queue.is_empty()
    }
}
