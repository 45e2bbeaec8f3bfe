//! The blocks of Carat's allocator: which are samples, and which of these are freed.
//!
//! Its functions call those below while a profile is taken, in any thread. What these allocate themselves comes here, too.

use std::ffi::{c_int, c_void};
use std::mem::transmute;
use std::ptr::{from_ref, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use super::interval::BLOCKS;
use super::live_samples::{SampleMemory, may_be_watched};
use super::{Allocation, IS_ON, change, is_own, note, windows, with_session};
use crate::libraries;
use crate::malloc::hooks::BlockSize;

// SAFETY: its contract is realloc's.
type Reallocate = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
// SAFETY: the observer is null, or never freed.
type Observe = unsafe extern "C" fn(*const BlockObserver);

/// As `Observer` of `carat-malloc`.
#[repr(C)]
struct BlockObserver {
    // SAFETY: it reads nothing of the block.
    allocated: unsafe extern "C" fn(*mut c_void, usize),
    // SAFETY: its contract is realloc's.
    reallocate: unsafe extern "C" fn(Reallocate, *mut c_void, usize) -> *mut c_void,
    // SAFETY: it reads nothing of the block.
    freeing: unsafe extern "C" fn(*mut c_void),
}

static OBSERVER: BlockObserver = BlockObserver {
    allocated: on_allocation,
    reallocate,
    freeing: on_free,
};

static ALLOCATOR: OnceLock<Option<Allocator>> = OnceLock::new();

/// Functions of the allocator.
struct Allocator {
    observe: Observe,
    block_size: BlockSize,
}

impl Allocator {
    /// Returns `None` unless Carat's allocator is this process's.
    fn find() -> Option<Allocator> {
        let block_size = BlockSize::find()?;
        libraries::function(c"carat_observe_malloc").map(|address| Allocator {
            // SAFETY: a function of this name is that of Carat's allocator, and has this signature.
            observe: unsafe { transmute::<*mut c_void, Observe>(address) },
            block_size,
        })
    }

    /// The bytes of a block.
    ///
    /// # Safety
    ///
    /// The block is null, or allocated and not freed.
    // SAFETY: the caller's promise, above.
    unsafe fn size(&self, block: *mut c_void) -> usize {
        // SAFETY: the caller guarantees it, and null has no bytes.
        unsafe { self.block_size.of(block) }
    }
}

fn allocator() -> Option<&'static Allocator> {
    ALLOCATOR.get_or_init(Allocator::find).as_ref()
}

/// Whether blocks can be sampled.
pub(super) fn can_be_seen() -> bool {
    allocator().is_some()
}

/// Begins to see blocks, or ends that.
pub(super) fn see(should_see: bool) {
    if let Some(allocator) = allocator() {
        let observer = if should_see {
            from_ref(&OBSERVER)
        } else {
            null_mut()
        };
        // SAFETY: the observer is a constant of this library, which stays.
        unsafe { (allocator.observe)(observer) };
    }
}

// SAFETY: only the allocator calls it, with a block that it has just allocated, or null.
unsafe extern "C" fn on_allocation(block: *mut c_void, asked: usize) {
    // Otherwise, windows would be shorter the more samples there are in them.
    if is_own() {
        return;
    }
    windows::follow();
    if block.is_null() {
        return;
    }
    let Some(scale) = BLOCKS.take(asked).filter(|_| IS_ON.load(Ordering::Acquire)) else {
        return;
    };
    windows::draw();
    // SAFETY: the allocator has just allocated the block.
    let bytes = allocator().map_or(asked, |allocator| unsafe { allocator.size(block) });
    note(&Allocation {
        memory: SampleMemory::Block(block as usize),
        bytes,
        objects: 1.0,
        scale,
        class: None,
    });
}

// SAFETY: only the allocator calls it, with a block that was not freed, or null.
unsafe extern "C" fn on_free(block: *mut c_void) {
    let address = block as usize;
    if may_be_watched(address) && IS_ON.load(Ordering::Acquire) {
        keeping_errno(|| change(|session| drop(session.live.take(address))));
    }
}

// SAFETY: only the allocator calls it; its contract is realloc's.
unsafe extern "C" fn reallocate(plain: Reallocate, block: *mut c_void, size: usize) -> *mut c_void {
    let Some(allocator) = allocator().filter(|_| IS_ON.load(Ordering::Acquire)) else {
        // SAFETY: the caller guarantees it.
        return unsafe { plain(block, size) };
    };
    // SAFETY: the caller guarantees it.
    let before = unsafe { allocator.size(block) };
    // From here on, another thread may get the same address.
    let samples = may_be_watched(block as usize)
        .then(|| with_session(|session| session.as_mut()?.live.take(block as usize)))
        .flatten()
        .flatten();
    // SAFETY: the caller guarantees it.
    let result = unsafe { plain(block, size) };
    if let Some(samples) = samples.filter(|_| result == block || result.is_null() && size != 0) {
        keeping_errno(|| change(|session| session.live.put_back(block as usize, samples)));
    }
    if result != block {
        // SAFETY: the allocator has just allocated it, or it is null.
        unsafe { on_allocation(result, size) };
    } else if !result.is_null() {
        // SAFETY: the allocator has just returned it.
        let after = unsafe { allocator.size(result) };
        on_growth(result, after.saturating_sub(before));
    }
    result
}

fn on_growth(block: *mut c_void, growth: usize) {
    if growth == 0 || is_own() {
        return;
    }
    let Some(scale) = BLOCKS.take(growth) else {
        return;
    };
    windows::draw();
    note(&Allocation {
        memory: SampleMemory::Block(block as usize),
        bytes: growth,
        objects: 0.0,
        scale,
        class: None,
    });
}

/// A caller of `free` may look at an earlier error afterward.
fn keeping_errno(function: impl FnOnce()) {
    // SAFETY: errno is this thread's own.
    let errno: *mut c_int = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    function();
    // SAFETY: as above.
    unsafe { *errno = before };
}
