//! `Carat::Lab::Ledger.map_blocks`: at which addresses each account has blocks of malloc.
//!
//! The counters say how much an account has allocated; here hooks note where.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::hash::BuildHasherDefault;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use magnus::{Error, Object, RModule, Ruby, function};

use crate::address_hasher::AddressHasher;
use crate::hooks::{BlockSize, Hooks, remove};
use crate::malloc::Mallctl;
use crate::recorder::recorder;
use crate::slots::EARLIER;
use crate::watched_thread::WatchedThread;

static BLOCKS: OnceLock<BlockMap> = OnceLock::new();

struct BlockMap {
    thread: WatchedThread,
    block_size: BlockSize,
    live: Mutex<LiveBlocks>,
}

#[derive(Default)]
struct LiveBlocks {
    handle: Option<usize>,
    blocks: HashMap<u64, BookedBlock, BuildHasherDefault<AddressHasher>>,
}

/// What one account has at an address.
#[derive(Clone, Copy)]
pub(crate) struct BookedBlock {
    pub(crate) account: u32,
    pub(crate) bytes: u64,
}

/// Defines the function on `Carat::Lab::Ledger`.
pub(crate) fn define(ledger: RModule) -> Result<(), Error> {
    ledger.define_singleton_method("map_blocks", function!(map_blocks, 0))
}

/// Begins to note the addresses of what this thread, which has called `start`, allocates. Returns false when the
/// allocator has no hooks.
fn map_blocks(_ruby: &Ruby) -> bool {
    let (Some(mallctl), Some(block_size)) = (Mallctl::find(), BlockSize::find()) else {
        return false;
    };
    let map = BLOCKS.get_or_init(|| BlockMap {
        thread: WatchedThread::default(),
        block_size,
        live: Mutex::default(),
    });
    map.thread.enter();
    let hooks = Hooks::new(on_allocation, on_free, Some(on_expansion));
    let handle = hooks.install(&mallctl);
    map.live().handle = handle;
    handle.is_some()
}

/// Ends the notes. Returns all blocks by address, and forgets them.
pub(crate) fn take_blocks() -> impl Iterator<Item = (u64, BookedBlock)> {
    // Each lock is released before anything is allocated or freed: the hooks wait for it.
    let handle = BLOCKS.get().and_then(|map| map.live().handle.take());
    if let (Some(handle), Some(mallctl)) = (handle, Mallctl::find()) {
        remove(&mallctl, handle);
    }
    let blocks = BLOCKS
        .get()
        .map(|map| std::mem::take(&mut map.live().blocks));
    blocks.into_iter().flatten()
}

/// Returns what `ask` says about each block that is live now. It must not allocate.
pub(crate) fn look_up<T>(ask: impl Fn(u64, BookedBlock) -> T) -> Vec<T> {
    let Some(map) = BLOCKS.get() else {
        return Vec::new();
    };
    // Nothing is allocated or freed while the lock is held: the hooks wait for it. They keep each block alive.
    let limit = map.live().blocks.len();
    let mut answers = Vec::with_capacity(limit);
    let live = map.live();
    for (address, block) in live.blocks.iter().take(limit) {
        answers.push(ask(*address, *block));
    }
    answers
}

// SAFETY: only jemalloc calls it, with a block that it has just allocated.
unsafe extern "C" fn on_allocation(
    _extra: *mut c_void,
    _kind: c_int,
    block: *mut c_void,
    _raw: usize,
    _arguments: *const usize,
) {
    if let Some(map) = BLOCKS.get().filter(|_| !block.is_null()) {
        // SAFETY: jemalloc has just allocated the block.
        let bytes = unsafe { map.block_size.of(block) };
        map.note(block as u64, bytes as u64);
    }
}

// SAFETY: only jemalloc calls it; the block is not read.
unsafe extern "C" fn on_free(
    _extra: *mut c_void,
    _kind: c_int,
    block: *mut c_void,
    _arguments: *const usize,
) {
    if let Some(map) = BLOCKS.get() {
        map.live().blocks.remove(&(block as u64));
    }
}

// SAFETY: only jemalloc calls it; the block is not read.
unsafe extern "C" fn on_expansion(
    _extra: *mut c_void,
    _kind: c_int,
    block: *mut c_void,
    _old_bytes: usize,
    bytes: usize,
    _raw: usize,
    _arguments: *const usize,
) {
    if let Some(map) = BLOCKS.get() {
        if let Some(known) = map.live().blocks.get_mut(&(block as u64)) {
            known.bytes = bytes as u64;
        }
    }
}

impl BlockMap {
    fn live(&self) -> MutexGuard<'_, LiveBlocks> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, address: u64, bytes: u64) {
        if !self.thread.is_present() {
            let account = EARLIER;
            self.live()
                .blocks
                .insert(address, BookedBlock { account, bytes });
        } else if let Some(recorder) = recorder() {
            // What the table takes to grow belongs to the ledger.
            recorder.try_change(|ledger| {
                let account = ledger.payer();
                self.live()
                    .blocks
                    .insert(address, BookedBlock { account, bytes });
            });
        }
    }
}
