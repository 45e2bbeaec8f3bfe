//! The fibers that wait, each with what it waits for and why its wait has ended.

use std::collections::HashMap;
use std::os::fd::RawFd;
use std::time::Instant;

use crate::handle::Handle;

/// Names one wait of one fiber, and never another: its index is used again, but with the next generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WaitId {
    index: u32,
    generation: u32,
}

/// Why a wait has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitOutcome<H> {
    /// `unblock` was called, or the fiber only let others run.
    Unblocked,
    /// The descriptor is ready for these events.
    Ready(u16),
    /// The wait has reached its limit.
    TimedOut,
    /// The block under this timeout has taken too long.
    Expired(u64),
    /// The descriptor is about to be closed.
    Closed,
    /// An exception is to be raised in the fiber.
    Raised(H),
    /// The scheduler ends, and with it everything that waits.
    Cancelled,
}

/// The wait of a fiber.
pub(crate) struct Wait<H> {
    pub(crate) fiber: H,
    pub(crate) deadline: Option<Instant>,
    /// Whether `unblock` ends the wait.
    pub(crate) is_block: bool,
    /// The descriptors that the wait watches. Most waits have one, which needs no allocation.
    pub(crate) descriptor: Option<RawFd>,
    pub(crate) others: Vec<RawFd>,
    pub(crate) outcome: Option<WaitOutcome<H>>,
}

impl<H> Wait<H> {
    /// A wait that nothing ends yet.
    pub(crate) fn new(fiber: H) -> Wait<H> {
        Wait {
            fiber,
            deadline: None,
            is_block: false,
            descriptor: None,
            others: Vec::new(),
            outcome: None,
        }
    }
}

struct Entry<H> {
    generation: u32,
    wait: Option<Wait<H>>,
}

/// All waits of a scheduler: one for each fiber that is suspended.
#[derive(Default)]
pub(crate) struct Waits<H> {
    entries: Vec<Entry<H>>,
    free: Vec<u32>,
    by_fiber: HashMap<H, WaitId>,
}

impl<H: Handle> Waits<H> {
    pub(crate) fn add(&mut self, wait: Wait<H>) -> WaitId {
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Entry {
                generation: 0,
                wait: None,
            });
            u32::try_from(self.entries.len() - 1).expect("a process has fewer fibers")
        });
        let entry = &mut self.entries[index as usize];
        let wait_id = WaitId {
            index,
            generation: entry.generation,
        };
        self.by_fiber.insert(wait.fiber, wait_id);
        entry.wait = Some(wait);
        wait_id
    }

    pub(crate) fn remove(&mut self, wait_id: WaitId) -> Option<Wait<H>> {
        let entry = self.entries.get_mut(wait_id.index as usize)?;
        if entry.generation != wait_id.generation {
            return None;
        }
        let wait = entry.wait.take()?;
        entry.generation = entry.generation.wrapping_add(1);
        self.free.push(wait_id.index);
        self.by_fiber.remove(&wait.fiber);
        Some(wait)
    }

    pub(crate) fn get_mut(&mut self, wait_id: WaitId) -> Option<&mut Wait<H>> {
        let entry = self.entries.get_mut(wait_id.index as usize)?;
        entry
            .wait
            .as_mut()
            .filter(|_| entry.generation == wait_id.generation)
    }

    pub(crate) fn get(&self, wait_id: WaitId) -> Option<&Wait<H>> {
        let entry = self.entries.get(wait_id.index as usize)?;
        entry
            .wait
            .as_ref()
            .filter(|_| entry.generation == wait_id.generation)
    }

    pub(crate) fn of_fiber(&self, fiber: H) -> Option<WaitId> {
        self.by_fiber.get(&fiber).copied()
    }

    pub(crate) fn wait_ids(&self) -> Vec<WaitId> {
        self.by_fiber.values().copied().collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Wait<H>> {
        self.entries.iter().filter_map(|entry| entry.wait.as_ref())
    }

    pub(crate) fn len(&self) -> usize {
        self.by_fiber.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_no_later_wait() {
        let mut waits = Waits::default();
        let first = waits.add(Wait::new("a"));
        assert!(waits.remove(first).is_some());
        let second = waits.add(Wait::new("b"));
        assert_eq!((first.index, second.index), (0, 0));
        assert!(waits.get(first).is_none() && waits.get_mut(first).is_none());
        assert!(waits.remove(first).is_none());
        assert_eq!(waits.of_fiber("b"), Some(second));
    }

    #[test]
    fn a_fiber_is_known_while_it_waits() {
        let mut waits = Waits::default();
        let wait_id = waits.add(Wait::new("a"));
        assert_eq!((waits.len(), waits.of_fiber("a")), (1, Some(wait_id)));
        waits.remove(wait_id);
        assert_eq!((waits.len(), waits.of_fiber("a")), (0, None));
        assert_eq!(waits.iter().count(), 0);
    }
}
