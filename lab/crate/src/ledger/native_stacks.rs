//! `Carat::Lab::Ledger.watch_stacks`: the native stacks of what one thread allocates and nobody frees.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use magnus::{Error, Object, RArray, RModule, Ruby, function};

use crate::ledger::recorder::{Recorder, recorder};
use crate::libraries::place;
use crate::malloc::Mallctl;
use crate::malloc::hooks::{BlockSize, Hooks, remove};
use crate::watched_thread::WatchedThread;

/// The innermost frames of a stack that are kept.
const FRAMES_LIMIT: usize = 32;

/// Allocations that are watched at once; further ones are not noted.
const WATCHED_LIMIT: usize = 1_000_000;

static WATCH: OnceLock<Watch> = OnceLock::new();

struct Watch {
    thread: WatchedThread,
    block_size: BlockSize,
    live: Mutex<Live>,
}

/// What has been allocated and not freed, by address.
#[derive(Default)]
struct Live {
    handle: usize,
    blocks: HashMap<usize, Block>,
}

struct Block {
    /// The account of the line of Ruby that was running.
    line: u32,
    bytes: usize,
    frames: Box<[usize]>,
}

/// Defines the functions on `Carat::Lab::Ledger`.
pub(crate) fn define(ledger: RModule) -> Result<(), Error> {
    ledger.define_singleton_method("watch_stacks", function!(watch_stacks, 0))?;
    ledger.define_singleton_method("stacks", function!(stacks, 0))
}

/// Begins to watch the thread that calls this. Returns false when the allocator has no hooks.
fn watch_stacks(_ruby: &Ruby) -> bool {
    let (Some(mallctl), Some(block_size)) = (Mallctl::find(), BlockSize::find()) else {
        return false;
    };
    let watch = WATCH.get_or_init(|| Watch {
        thread: WatchedThread::default(),
        block_size,
        live: Mutex::default(),
    });
    watch.thread.enter();
    // The first stack loads a library, which allocates: not within a hook.
    drop(stack());
    let Some(handle) = Hooks::new(on_allocation, on_free, None).install(&mallctl) else {
        return false;
    };
    watch.live().handle = handle;
    true
}

/// Ends the watch. Returns an Array for each block that nobody has freed: the account of its line, its bytes, and its
/// stack from the inside, each frame as the path of a library, an offset in it, and the name of a function or nil.
fn stacks(ruby: &Ruby) -> Result<RArray, Error> {
    let rows = ruby.ary_new();
    let (Some(watch), Some(mallctl)) = (WATCH.get(), Mallctl::find()) else {
        return Ok(rows);
    };
    remove(&mallctl, watch.live().handle);
    let blocks = std::mem::take(&mut watch.live().blocks);
    for block in blocks.into_values() {
        let frames = ruby.ary_new();
        for frame in block.frames.iter().filter_map(|address| describe(*address)) {
            frames.push(frame)?;
        }
        rows.push((block.line, block.bytes, frames))?;
    }
    Ok(rows)
}

// SAFETY: only jemalloc calls it, with a block that it has just allocated.
unsafe extern "C" fn on_allocation(
    _extra: *mut c_void,
    _kind: c_int,
    block: *mut c_void,
    _raw: usize,
    _arguments: *const usize,
) {
    let Some(watch) = WATCH.get() else { return };
    if block.is_null() || !watch.thread.is_present() {
        return;
    }
    // Without a line, it is the ledger that allocates.
    let Some(line) = recorder().and_then(Recorder::payer) else {
        return;
    };
    // SAFETY: jemalloc has just allocated the block.
    let bytes = unsafe { watch.block_size.of(block) };
    let frames = stack();
    watch.note(
        block as usize,
        Block {
            line,
            bytes,
            frames,
        },
    );
}

// SAFETY: only jemalloc calls it; the block is not read.
unsafe extern "C" fn on_free(
    _extra: *mut c_void,
    _kind: c_int,
    block: *mut c_void,
    _arguments: *const usize,
) {
    if let Some(watch) = WATCH.get() {
        watch.live().blocks.remove(&(block as usize));
    }
}

impl Watch {
    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, address: usize, block: Block) {
        let mut live = self.live();
        if live.blocks.len() < WATCHED_LIMIT {
            live.blocks.insert(address, block);
        }
    }
}

/// The addresses of the callers.
#[cfg(target_env = "gnu")]
fn stack() -> Box<[usize]> {
    let mut frames = [std::ptr::null_mut::<c_void>(); FRAMES_LIMIT];
    let limit = c_int::try_from(FRAMES_LIMIT).unwrap_or(0);
    // SAFETY: glibc writes `limit` addresses at most.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), limit) };
    let frames = frames.iter().take(usize::try_from(count).unwrap_or(0));
    frames.map(|frame| *frame as usize).collect()
}

/// musl has no function that finds the callers.
#[cfg(not(target_env = "gnu"))]
fn stack() -> Box<[usize]> {
    Box::default()
}

/// The library of an address, the offset in it, and its function if the library exports it.
fn describe(address: usize) -> Option<(String, usize, Option<String>)> {
    let place = place(address)?;
    let function = place.function.map(|(name, _)| name);
    Some((place.library, place.offset, function))
}
