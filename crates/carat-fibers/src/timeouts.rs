//! The blocks that run under `Timeout.timeout`.

use std::collections::HashMap;
use std::time::Instant;

use crate::handle::Handle;

/// A block of `Timeout.timeout` that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeout<H> {
    /// The fiber that runs the block.
    pub fiber: H,
    /// The class of the exception that is raised when the deadline has passed.
    pub exception: H,
    /// The message of the exception that the block gets.
    pub message: H,
    /// When the block has taken too long.
    pub deadline: Instant,
    /// Whether the deadline has passed, but the fiber could not be interrupted yet.
    pub is_due: bool,
}

/// The blocks of a scheduler, by number.
#[derive(Default)]
pub struct Timeouts<H> {
    last: u64,
    running: HashMap<u64, Timeout<H>>,
    due: usize,
}

impl<H: Handle> Timeouts<H> {
    pub(crate) fn add(&mut self, timeout: Timeout<H>) -> u64 {
        self.last += 1;
        self.running.insert(self.last, timeout);
        self.last
    }

    /// The block with this number, while it runs.
    pub fn get(&self, number: u64) -> Option<Timeout<H>> {
        self.running.get(&number).copied()
    }

    /// The block has ended.
    pub(crate) fn remove(&mut self, number: u64) -> Option<Timeout<H>> {
        let timeout = self.running.remove(&number)?;
        self.due -= usize::from(timeout.is_due);
        Some(timeout)
    }

    /// Interrupts the fiber as soon as it waits.
    pub fn postpone(&mut self, number: u64) {
        let Some(timeout) = self.running.get_mut(&number) else {
            return;
        };
        if !timeout.is_due {
            timeout.is_due = true;
            self.due += 1;
        }
    }

    /// Takes a timeout that is due in this fiber.
    pub fn take_due(&mut self, fiber: H) -> Option<u64> {
        if self.due == 0 {
            return None;
        }
        let mut due = self.running.iter_mut();
        let (number, timeout) = due.find(|(_, one)| one.is_due && one.fiber == fiber)?;
        timeout.is_due = false;
        self.due -= 1;
        Some(*number)
    }

    /// Drops the timeouts of all fibers but one: after a fork, only that fiber continues.
    pub(crate) fn retain(&mut self, fiber: H) {
        self.running.retain(|_, one| one.fiber == fiber);
        self.due = self.running.values().filter(|one| one.is_due).count();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Timeout<H>)> {
        self.running
            .iter()
            .map(|(number, timeout)| (*number, timeout))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeout(fiber: &'static str) -> Timeout<&'static str> {
        Timeout {
            fiber,
            exception: "Timeout::Error",
            message: "execution expired",
            deadline: Instant::now(),
            is_due: false,
        }
    }

    #[test]
    fn what_is_postponed_is_raised_once_and_in_its_own_fiber() {
        let mut timeouts = Timeouts::default();
        let number = timeouts.add(timeout("a"));
        assert_eq!(timeouts.take_due("a"), None);
        timeouts.postpone(number);
        timeouts.postpone(number);
        assert_eq!(timeouts.take_due("b"), None);
        assert_eq!(timeouts.take_due("a"), Some(number));
        assert_eq!(timeouts.take_due("a"), None);
    }

    #[test]
    fn a_block_that_has_ended_raises_nothing() {
        let mut timeouts = Timeouts::default();
        let number = timeouts.add(timeout("a"));
        timeouts.postpone(number);
        assert!(timeouts.remove(number).is_some());
        assert_eq!((timeouts.take_due("a"), timeouts.due), (None, 0));
    }

    #[test]
    fn after_a_fork_only_the_timeouts_of_its_fiber_are_left() {
        let mut timeouts = Timeouts::default();
        let parent = timeouts.add(timeout("a"));
        let child = timeouts.add(timeout("b"));
        timeouts.postpone(parent);
        timeouts.postpone(child);
        timeouts.retain("b");
        assert_eq!((timeouts.get(parent), timeouts.due), (None, 1));
        assert_eq!(timeouts.take_due("b"), Some(child));
    }
}
