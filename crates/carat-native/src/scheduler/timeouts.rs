//! The blocks that run under `Timeout.timeout`.

use std::collections::HashMap;
use std::time::Instant;

use rb_sys::VALUE;

/// One such block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeout {
    /// Who runs the block.
    pub(crate) fiber: VALUE,
    /// What is raised, when the time is over, with which message.
    pub(crate) exception: VALUE,
    pub(crate) message: VALUE,
    pub(crate) deadline: Instant,
    /// The time is over, but the fiber could not be interrupted yet.
    pub(crate) is_due: bool,
}

/// The blocks of a scheduler, by number.
#[derive(Debug, Default)]
pub(crate) struct Timeouts {
    last: u64,
    running: HashMap<u64, Timeout>,
    due: usize,
}

impl Timeouts {
    pub(crate) fn add(&mut self, timeout: Timeout) -> u64 {
        self.last += 1;
        self.running.insert(self.last, timeout);
        self.last
    }

    pub(crate) fn get(&self, number: u64) -> Option<Timeout> {
        self.running.get(&number).copied()
    }

    /// The block is over.
    pub(crate) fn remove(&mut self, number: u64) -> Option<Timeout> {
        let timeout = self.running.remove(&number)?;
        self.due -= usize::from(timeout.is_due);
        Some(timeout)
    }

    /// Notes that the fiber is to be interrupted as soon as it waits.
    pub(crate) fn postpone(&mut self, number: u64) {
        let Some(timeout) = self.running.get_mut(&number) else {
            return;
        };
        if !timeout.is_due {
            timeout.is_due = true;
            self.due += 1;
        }
    }

    /// Takes what is to be raised in this fiber.
    pub(crate) fn take_due(&mut self, fiber: VALUE) -> Option<u64> {
        if self.due == 0 {
            return None;
        }
        let mut due = self.running.iter_mut();
        let (number, timeout) = due.find(|(_, one)| one.is_due && one.fiber == fiber)?;
        timeout.is_due = false;
        self.due -= 1;
        Some(*number)
    }

    /// Forgets all but those of one fiber, the only one that a fork leaves running.
    pub(crate) fn retain(&mut self, fiber: VALUE) {
        self.running.retain(|_, one| one.fiber == fiber);
        self.due = self.running.values().filter(|one| one.is_due).count();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Timeout)> {
        self.running
            .iter()
            .map(|(number, timeout)| (*number, timeout))
    }
}
