//! Whose time is over.

use std::time::{Duration, Instant};

use super::State;
use crate::scheduler::timeouts::{Timeout, Timeouts};
use crate::scheduler::timers::Purpose;
use crate::scheduler::waits::Outcome;

impl State {
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
}
