//! Timers and timeouts that have expired.

use std::time::{Duration, Instant};

use super::SchedulerState;
use crate::handle::Handle;
use crate::poller::Poller;
use crate::timeouts::{Timeout, Timeouts};
use crate::timers::Purpose;
use crate::waits::WaitOutcome;

impl<H: Handle, P: Poller> SchedulerState<H, P> {
    /// Wakes the fibers whose deadline has passed. Returns the timeouts whose fibers wait for nothing that the
    /// scheduler knows of.
    pub fn expire(&mut self, now: Instant) -> Vec<u64> {
        let mut elsewhere = Vec::new();
        while let Some(purpose) = self.timers.pop(now) {
            match purpose {
                Purpose::Wait(wait_id) => self.wake(wait_id, WaitOutcome::TimedOut),
                Purpose::Timeout(number) => elsewhere.extend(self.expire_timeout(number)),
            }
        }
        elsewhere
    }

    /// A fiber that has been woken already has to run first: it may have been given a lock that others wait for.
    fn expire_timeout(&mut self, number: u64) -> Option<u64> {
        let timeout = self.timeouts.get(number)?;
        let Some(wait_id) = self.waits.of_fiber(timeout.fiber) else {
            return Some(number);
        };
        if self.is_woken(wait_id) {
            self.timeouts.postpone(number);
        } else {
            self.wake(wait_id, WaitOutcome::Expired(number));
        }
        None
    }

    /// Time until the next deadline; `None` when there is none.
    pub fn next_in(&self, now: Instant) -> Option<Duration> {
        self.timers.next_in(now)
    }

    /// Begins a block under a timeout, and returns its number.
    pub fn add_timeout(&mut self, timeout: Timeout<H>) -> u64 {
        let number = self.timeouts.add(timeout);
        self.timers.add(timeout.deadline, Purpose::Timeout(number));
        number
    }

    /// The block with this number has ended.
    pub fn remove_timeout(&mut self, number: u64) {
        if let Some(timeout) = self.timeouts.remove(number) {
            let purpose = Purpose::Timeout(number);
            self.timers.cancel(timeout.deadline, purpose);
        }
    }

    /// The blocks under timeouts.
    pub fn timeouts(&mut self) -> &mut Timeouts<H> {
        &mut self.timeouts
    }
}
