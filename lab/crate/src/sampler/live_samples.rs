//! The samples whose memory has not been freed.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicU16, Ordering};

use rb_sys::VALUE;

use super::call_tree::Weight;
use crate::address_hasher::AddressHasher;

/// Samples that are watched at once; further ones count as freed.
const WATCHED_LIMIT: usize = 200_000;

/// How many watched blocks have addresses with each hash: almost every `free` ends here, without a lock.
static BLOCKS: [AtomicU16; 1 << HASH_BITS] = [const { AtomicU16::new(0) }; 1 << HASH_BITS];
/// A table that fits into the first cache: a larger one would cost each `free` more than the few that pass in vain.
const HASH_BITS: u32 = 13;

/// What was allocated, and by which call.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    pub(super) call: u32,
    pub(super) weight: Weight,
}

/// Where a sample is.
#[derive(Clone, Copy)]
pub(super) enum SampleMemory {
    /// Blocks of the allocator, by address.
    Block(usize),
    /// An object of Ruby.
    Object(VALUE),
}

/// The samples by their memory. A block that grows has several.
#[derive(Default)]
pub(super) struct LiveSamples {
    blocks: HashMap<usize, Vec<Sample>, BuildHasherDefault<AddressHasher>>,
    objects: HashMap<VALUE, Sample, BuildHasherDefault<AddressHasher>>,
    pub(super) is_truncated: bool,
}

/// Whether a block may be one that is watched.
pub(super) fn may_be_watched(block: usize) -> bool {
    BLOCKS[hash(block)].load(Ordering::Relaxed) != 0
}

impl LiveSamples {
    pub(super) fn watch(&mut self, memory: SampleMemory, sample: Sample) {
        if self.blocks.len() + self.objects.len() >= WATCHED_LIMIT {
            self.is_truncated = true;
            return;
        }
        match memory {
            SampleMemory::Block(address) => {
                let samples = self.blocks.entry(address).or_default();
                if samples.is_empty() {
                    BLOCKS[hash(address)].fetch_add(1, Ordering::Relaxed);
                }
                samples.push(sample);
            }
            SampleMemory::Object(object) => {
                self.objects.insert(object, sample);
            }
        }
    }

    /// Forgets a block, and returns its samples.
    pub(super) fn take(&mut self, block: usize) -> Option<Vec<Sample>> {
        let samples = self.blocks.remove(&block)?;
        BLOCKS[hash(block)].fetch_sub(1, Ordering::Relaxed);
        Some(samples)
    }

    /// Watches a block again.
    pub(super) fn put_back(&mut self, block: usize, samples: Vec<Sample>) {
        BLOCKS[hash(block)].fetch_add(1, Ordering::Relaxed);
        self.blocks.insert(block, samples);
    }

    /// The objects live for which that is true; all others are about to be freed.
    pub(super) fn keep_objects(&mut self, mut is_live: impl FnMut(VALUE) -> bool) {
        self.objects.retain(|object, _| is_live(*object));
    }

    /// What each of so many calls has allocated that is not freed.
    pub(super) fn weights(&self, calls: usize) -> Vec<Weight> {
        let mut weights = vec![Weight::default(); calls];
        for sample in self.blocks.values().flatten().chain(self.objects.values()) {
            if let Some(weight) = weights.get_mut(sample.call as usize) {
                *weight += sample.weight;
            }
        }
        weights
    }
}

impl Drop for LiveSamples {
    fn drop(&mut self) {
        for block in self.blocks.keys() {
            BLOCKS[hash(*block)].fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Fibonacci hashing; blocks have addresses that are multiples of 8 at least.
fn hash(block: usize) -> usize {
    block.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - HASH_BITS)
}
