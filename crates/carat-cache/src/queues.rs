use std::cell::{Cell, RefCell};
use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use crate::entry::StoredResponse;
use crate::selection::Selection;

/// Probation, the queue of new responses, gets the size of the cache divided by this.
const PROBATION_SHARE: usize = 10;
/// A response that was asked for again this often leaves probation.
const PROVEN_HITS: u8 = 2;
/// The most hits that are counted, so that a response that is no longer asked for is evicted soon.
const HITS_LIMIT: u8 = 3;
/// The most evicted responses that are remembered. A remembered response skips probation when it is
/// stored again.
const GHOSTS_LIMIT: usize = 16 * 1024;
/// The most empty slots before the queues are cleaned.
const EMPTY_LIMIT: usize = 64;

/// The place of a response. A new response to the same requests takes it over.
#[derive(Debug)]
pub(crate) struct VariantSlot {
    pub(crate) url: Rc<[u8]>,
    pub(crate) selection: Selection,
    /// The fingerprint by which an entry is remembered after its eviction.
    pub(crate) fingerprint: u64,
    pub(crate) entry: RefCell<Option<Rc<StoredResponse>>>,
    hits: Cell<u8>,
    /// Bytes of memory that the entry takes.
    pub(crate) weight: Cell<usize>,
    is_proven: Cell<bool>,
}

/// The order in which responses are evicted: S3-FIFO (Yang et al., SOSP 2023). Responses that are
/// asked for once, as by a crawler, leave from probation, and evict none that was asked for often.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    probation: VecDeque<Rc<VariantSlot>>,
    proven: VecDeque<Rc<VariantSlot>>,
    probation_bytes: usize,
    proven_bytes: usize,
    ghosts: VecDeque<u64>,
    known_ghosts: HashSet<u64>,
    empty: usize,
}

impl VariantSlot {
    pub(crate) fn new(url: Rc<[u8]>, selection: Selection, fingerprint: u64) -> Rc<VariantSlot> {
        Rc::new(VariantSlot {
            url,
            selection,
            fingerprint,
            entry: RefCell::default(),
            hits: Cell::new(0),
            weight: Cell::new(0),
            is_proven: Cell::new(false),
        })
    }

    pub(crate) fn note_hit(&self) {
        self.hits.set((self.hits.get() + 1).min(HITS_LIMIT));
    }

    pub(crate) fn hits(&self) -> u8 {
        self.hits.get()
    }

    fn is_empty(&self) -> bool {
        self.entry.borrow().is_none()
    }
}

impl Queues {
    /// Bytes of all entries.
    pub(crate) fn bytes(&self) -> usize {
        self.probation_bytes + self.proven_bytes
    }

    pub(crate) fn add(&mut self, slot: &Rc<VariantSlot>) {
        let is_known = self.known_ghosts.contains(&slot.fingerprint);
        slot.is_proven.set(is_known);
        if is_known {
            self.proven.push_back(Rc::clone(slot));
        } else {
            self.probation.push_back(Rc::clone(slot));
        }
        *self.bytes_of(slot) += slot.weight.get();
    }

    /// Sets the size of a slot's entry.
    pub(crate) fn resize(&mut self, slot: &VariantSlot, weight: usize) {
        let before = slot.weight.replace(weight);
        let bytes = self.bytes_of(slot);
        *bytes = *bytes + weight - before;
    }

    /// Removes the entry of a slot. The empty slot stays in its queue until the queues are cleaned.
    pub(crate) fn remove(&mut self, slot: &VariantSlot) {
        self.resize(slot, 0);
        slot.entry.take();
        self.empty += 1;
        if self.empty > EMPTY_LIMIT && 2 * self.empty > self.probation.len() + self.proven.len() {
            self.probation.retain(|slot| !slot.is_empty());
            self.proven.retain(|slot| !slot.is_empty());
            self.empty = 0;
        }
    }

    /// Takes the slot whose entry is to be evicted next; `None` when there is none.
    pub(crate) fn evict(&mut self) -> Option<Rc<VariantSlot>> {
        loop {
            let is_probation_full = self.probation_bytes * PROBATION_SHARE >= self.bytes();
            let victim = if is_probation_full || self.proven.is_empty() {
                self.evict_on_probation()
            } else {
                self.evict_proven()
            };
            if victim.is_some() || (self.probation.is_empty() && self.proven.is_empty()) {
                return victim;
            }
        }
    }

    fn evict_on_probation(&mut self) -> Option<Rc<VariantSlot>> {
        let slot = self.probation.pop_front()?;
        if slot.is_empty() {
            self.empty = self.empty.saturating_sub(1);
            return None;
        }
        let weight = slot.weight.get();
        self.probation_bytes -= weight;
        if slot.hits.get() >= PROVEN_HITS {
            slot.hits.set(0);
            slot.is_proven.set(true);
            self.proven_bytes += weight;
            self.proven.push_back(slot);
            return None;
        }
        self.remember(slot.fingerprint);
        slot.weight.set(0);
        Some(slot)
    }

    fn evict_proven(&mut self) -> Option<Rc<VariantSlot>> {
        let slot = self.proven.pop_front()?;
        if slot.is_empty() {
            self.empty = self.empty.saturating_sub(1);
            return None;
        }
        if slot.hits.get() > 0 {
            slot.hits.set(slot.hits.get() - 1);
            self.proven.push_back(slot);
            return None;
        }
        self.proven_bytes -= slot.weight.replace(0);
        Some(slot)
    }

    fn remember(&mut self, fingerprint: u64) {
        if self.known_ghosts.insert(fingerprint) {
            self.ghosts.push_back(fingerprint);
        }
        if self.ghosts.len() > GHOSTS_LIMIT {
            let oldest = self.ghosts.pop_front();
            oldest.map(|oldest| self.known_ghosts.remove(&oldest));
        }
    }

    fn bytes_of(&mut self, slot: &VariantSlot) -> &mut usize {
        if slot.is_proven.get() {
            &mut self.proven_bytes
        } else {
            &mut self.probation_bytes
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_of_evicted_responses_has_an_end() {
        let mut queues = Queues::default();
        for fingerprint in 0..=GHOSTS_LIMIT as u64 {
            queues.remember(fingerprint);
            queues.remember(fingerprint);
        }
        let sizes = (queues.ghosts.len(), queues.known_ghosts.len());
        assert_eq!(sizes, (GHOSTS_LIMIT, GHOSTS_LIMIT));
        assert!(!queues.known_ghosts.contains(&0));
    }
}
