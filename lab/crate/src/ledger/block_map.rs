//! The blocks of malloc that each account has, by address.
//!
//! A block belongs to the account that allocated it until it is freed, whoever frees it. What counts the bytes that a
//! line allocates and frees would leave memory that others free with its line for ever.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::hash::BuildHasherDefault;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::address_hasher::AddressHasher;
use crate::ledger::memory_ledger::FIRST;
use crate::ledger::recorder::recorder;
use crate::malloc::Mallctl;
use crate::malloc::hooks::{BlockSize, Hooks, remove};

static BLOCKS: OnceLock<BlockMap> = OnceLock::new();

struct BlockMap {
    block_size: BlockSize,
    live: Mutex<LiveBlocks>,
}

#[derive(Default)]
struct LiveBlocks {
    handle: Option<usize>,
    blocks: HashMap<u64, BookedBlock, BuildHasherDefault<AddressHasher>>,
    /// The bytes of each account.
    sums: Vec<i64>,
}

/// What one account has at an address.
#[derive(Clone, Copy)]
pub(crate) struct BookedBlock {
    pub(crate) account: u32,
    pub(crate) bytes: u64,
}

/// Begins to note what all threads allocate from now on. Returns false when the allocator has no hooks.
pub(crate) fn start() -> bool {
    stop();
    let (Some(mallctl), Some(block_size)) = (Mallctl::find(), BlockSize::find()) else {
        return false;
    };
    let map = BLOCKS.get_or_init(|| BlockMap {
        block_size,
        live: Mutex::default(),
    });
    drop(std::mem::take(&mut *map.live()));
    reserve(FIRST);
    let hooks = Hooks::new(on_allocation, on_free, Some(on_expansion));
    let handle = hooks.install(&mallctl);
    map.live().handle = handle;
    handle.is_some()
}

/// Ends the notes; what is known stays.
pub(crate) fn stop() {
    // The lock is released before jemalloc is called: the hooks wait for it.
    let handle = BLOCKS.get().and_then(|map| map.live().handle.take());
    if let (Some(handle), Some(mallctl)) = (handle, Mallctl::find()) {
        remove(&mallctl, handle);
    }
}

/// The bytes of each account; those that are missing have none.
pub(crate) fn sums() -> Vec<i64> {
    let Some(map) = BLOCKS.get() else {
        return Vec::new();
    };
    // Nothing is allocated while the lock is held: the hooks wait for it.
    let length = map.live().sums.len();
    let mut sums = Vec::with_capacity(length);
    let live = map.live();
    sums.extend(live.sums.iter().take(sums.capacity()));
    sums
}

/// Makes room for the sums of so many accounts. [`pass`] needs it.
pub(crate) fn reserve(accounts: usize) {
    let Some(map) = BLOCKS.get() else {
        return;
    };
    // Nothing is allocated or freed while the lock is held: the hooks wait for it.
    let mut sums = vec![0; accounts];
    let mut live = map.live();
    let known = live.sums.len();
    if known < accounts {
        sums[..known].copy_from_slice(&live.sums);
        std::mem::swap(&mut live.sums, &mut sums);
    }
    drop(live);
}

/// Passes the block at an address, if there is one, from an account, or from any, to another.
pub(crate) fn pass(address: u64, from: Option<u32>, to: u32) {
    if let Some(map) = BLOCKS.get() {
        map.live().pass(address, from, to);
    }
}

/// Ends the notes. Returns all blocks by address, and forgets them.
pub(crate) fn take_blocks() -> impl Iterator<Item = (u64, BookedBlock)> {
    stop();
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
        map.live().free(block as u64);
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
        map.live().expand(block as u64, bytes as u64);
    }
}

impl BlockMap {
    fn live(&self) -> MutexGuard<'_, LiveBlocks> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, address: u64, bytes: u64) {
        // While the ledger works, it is the ledger that allocates. What the table takes to grow is its own, too.
        if let Some(recorder) = recorder() {
            recorder.book_block(|account| {
                self.live().note(address, BookedBlock { account, bytes });
            });
        }
    }
}

impl LiveBlocks {
    fn note(&mut self, address: u64, block: BookedBlock) {
        self.free(address);
        self.blocks.insert(address, block);
        self.add(block.account, block.bytes, 1);
    }

    fn free(&mut self, address: u64) {
        if let Some(block) = self.blocks.remove(&address) {
            self.add(block.account, block.bytes, -1);
        }
    }

    fn expand(&mut self, address: u64, bytes: u64) {
        if let Some(block) = self.blocks.get(&address).copied() {
            self.note(address, BookedBlock { bytes, ..block });
        }
    }

    /// Allocates nothing.
    fn pass(&mut self, address: u64, from: Option<u32>, to: u32) {
        if to as usize >= self.sums.len() {
            return;
        }
        let found = self.blocks.get_mut(&address);
        if let Some(block) = found.filter(|block| from.is_none_or(|from| from == block.account)) {
            let old = std::mem::replace(
                block,
                BookedBlock {
                    account: to,
                    ..*block
                },
            );
            self.add(old.account, old.bytes, -1);
            self.add(to, old.bytes, 1);
        }
    }

    fn add(&mut self, account: u32, bytes: u64, sign: i64) {
        let index = account as usize;
        if self.sums.len() <= index {
            self.sums.resize(index + 1, 0);
        }
        self.sums[index] += sign * i64::try_from(bytes).unwrap_or(0);
    }
}
