//! `Carat::Lab::Heap.fill_thread_cache`: what glibc keeps in the cache of a thread.
//!
//! glibc counts free blocks in the cache of a thread as allocated, and has no function that empties the cache. While the
//! cache fills, an application that leaks nothing seems to leak some bytes a request. A full cache holds as much at each
//! reading.

use std::array::from_fn;
use std::hint::black_box;

use magnus::{Error, Object, RModule, Ruby, function};

use crate::malloc::Mallctl;

/// The cache has a list of blocks for each multiple of this size in bytes.
const STEP: usize = 16;
/// The size of the last list.
const LARGEST: usize = 1024;
/// More blocks than a list holds, which are 7 unless `GLIBC_TUNABLES` asks for more.
const BLOCKS: usize = 16;

/// Defines the function on `Carat::Lab::Heap`.
pub(crate) fn define(heap: RModule) -> Result<(), Error> {
    heap.define_singleton_method("fill_thread_cache", function!(fill_thread_cache, 0))
}

/// Fills the cache of this thread, if the allocator is glibc's. Returns nil.
fn fill_thread_cache(_ruby: &Ruby) {
    // Carat's jemalloc empties its own when free pages are returned.
    if cfg!(not(target_env = "gnu")) || Mallctl::find().is_some() {
        return;
    }
    for bytes in (STEP..=LARGEST).step_by(STEP) {
        // SAFETY: it takes a number; null is one that `free` takes.
        let blocks: [_; BLOCKS] = from_fn(|_| unsafe { libc::malloc(bytes) });
        // Without this, the compiler would remove the calls: nobody uses the blocks.
        for block in black_box(blocks) {
            // SAFETY: `malloc` has returned it, and nobody else has it.
            unsafe { libc::free(block) };
        }
    }
}
