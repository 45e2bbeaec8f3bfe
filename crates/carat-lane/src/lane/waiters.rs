//! The slots that share a lane, and the event that each waits for.

use std::collections::HashMap;

/// The event that a slot waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum WaitFor {
    /// The next request.
    Request,
    /// An event of this request: more of its body, or room in the window of its response.
    Update(u32),
    /// All slots are busy, and another one is needed.
    SlotDemand,
}

/// The slots that wait without reading the socket. `W` wakes one of them.
pub struct Waiters<W> {
    /// The slots that wait for a request. The last one is woken first, because its stack is still in the processor's
    /// caches.
    takers: Vec<W>,
    updates: HashMap<u32, Vec<W>>,
    openers: Vec<W>,
}

impl<W> Default for Waiters<W> {
    fn default() -> Self {
        Waiters {
            takers: Vec::new(),
            updates: HashMap::new(),
            openers: Vec::new(),
        }
    }
}

impl<W> Waiters<W> {
    /// Adds a waiter.
    pub fn add(&mut self, wanted: WaitFor, waiter: W) {
        self.at(wanted).push(waiter);
    }

    /// Removes the waiter for which `is_it` holds. Returns whether it was still waiting.
    pub fn remove(&mut self, wanted: WaitFor, is_it: impl Fn(&W) -> bool) -> bool {
        let waiters = self.at(wanted);
        let before = waiters.len();
        waiters.retain(|waiter| !is_it(waiter));
        let after = waiters.len();
        match wanted {
            WaitFor::Update(id) if after == 0 => drop(self.updates.remove(&id)),
            WaitFor::Request | WaitFor::Update(_) | WaitFor::SlotDemand => {}
        }
        after < before
    }

    /// How many slots wait for a request.
    pub fn idle(&self) -> usize {
        self.takers.len()
    }

    /// Takes the waiters for an event of request `id`.
    pub fn take_updated(&mut self, id: u32) -> Vec<W> {
        self.updates.remove(&id).unwrap_or_default()
    }

    /// Takes the waiter that gets the next request: an idle slot, or else the waiter that opens slots.
    pub fn take_taker(&mut self) -> Option<W> {
        self.takers.pop().or_else(|| self.openers.pop())
    }

    /// Takes the waiter that reads the socket next. The waiter that opens slots does not read itself, but a slot that
    /// it opens does. So it is chosen last, and only if the lane `may_open` a slot.
    pub fn take_reader(&mut self, may_open: bool) -> Option<W> {
        let taker = self.takers.pop();
        let reader = taker.or_else(|| self.updates.values_mut().find_map(Vec::pop));
        match reader {
            None if may_open => self.openers.pop(),
            reader => reader,
        }
    }

    /// All waiters.
    pub fn iter(&self) -> impl Iterator<Item = &W> {
        let updates = self.updates.values().flatten();
        self.takers.iter().chain(updates).chain(&self.openers)
    }

    fn at(&mut self, wanted: WaitFor) -> &mut Vec<W> {
        match wanted {
            WaitFor::Request => &mut self.takers,
            WaitFor::Update(id) => self.updates.entry(id).or_default(),
            WaitFor::SlotDemand => &mut self.openers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_idle_slot_takes_the_next_request() {
        let mut waiters = Waiters::default();
        waiters.add(WaitFor::SlotDemand, "opener");
        waiters.add(WaitFor::Request, "first");
        waiters.add(WaitFor::Request, "last");
        assert_eq!(waiters.idle(), 2);
        assert_eq!(waiters.take_taker(), Some("last"));
        assert_eq!(waiters.take_taker(), Some("first"));
        assert_eq!(waiters.take_taker(), Some("opener"));
        assert_eq!(waiters.take_taker(), None);
    }

    #[test]
    fn a_new_slot_reads_only_when_nobody_else_does_and_there_may_be_one() {
        let mut waiters = Waiters::default();
        waiters.add(WaitFor::SlotDemand, "opener");
        waiters.add(WaitFor::Update(7), "body");
        assert_eq!(waiters.take_reader(true), Some("body"));
        assert_eq!(waiters.take_reader(false), None);
        assert_eq!(waiters.take_reader(true), Some("opener"));
    }

    #[test]
    fn an_update_wakes_everybody_who_waits_for_that_request() {
        let mut waiters = Waiters::default();
        for waiter in ["reader", "writer"] {
            waiters.add(WaitFor::Update(7), waiter);
        }
        waiters.add(WaitFor::Update(8), "other");
        assert_eq!(waiters.take_updated(7), ["reader", "writer"]);
        assert_eq!(waiters.iter().collect::<Vec<_>>(), [&"other"]);
    }

    #[test]
    fn one_that_was_woken_waits_no_longer() {
        let mut waiters = Waiters::default();
        waiters.add(WaitFor::Update(7), "body");
        assert!(waiters.remove(WaitFor::Update(7), |waiter| *waiter == "body"));
        assert!(!waiters.remove(WaitFor::Update(7), |waiter| *waiter == "body"));
        assert!(waiters.updates.is_empty());
    }
}
