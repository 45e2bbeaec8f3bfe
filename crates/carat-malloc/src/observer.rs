//! The functions that a profile puts between the process and its allocator, for as long as it is taken.
//!
//! jemalloc has hooks of its own, but while one is installed, each call in each thread leaves its fast path, which
//! costs more than the functions below. Without an observer, each of these costs one comparison.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// jemalloc's own function, as an observer calls it.
// SAFETY: its contract is realloc's.
pub type Reallocate = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;

/// Functions that see each block. They are called in any thread, at any time, and may allocate.
#[repr(C)]
pub struct Observer {
    /// Called with what was allocated, which is null on failure, and the bytes that were asked for.
    // SAFETY: it reads nothing of the block.
    pub allocated: unsafe extern "C" fn(*mut c_void, usize),
    /// Called in place of `realloc`, with the function that does it.
    // SAFETY: its contract is realloc's.
    pub reallocate: unsafe extern "C" fn(Reallocate, *mut c_void, usize) -> *mut c_void,
    /// Called with a block before it is freed, or with null.
    // SAFETY: it reads nothing of the block.
    pub freeing: unsafe extern "C" fn(*mut c_void),
}

/// The observer, or null.
static OBSERVER: AtomicPtr<Observer> = AtomicPtr::new(null_mut());

/// Sets the observer, or null for none. The caller never frees it: other threads may be within its functions. SAFETY:
/// no other symbol has this name.
#[unsafe(no_mangle)]
pub extern "C" fn carat_observe_malloc(observer: *mut Observer) {
    OBSERVER.store(observer, Ordering::Release);
}

// jemalloc's functions: the Makefile gives them these names before it gives theirs to the functions below.
// SAFETY: the signatures are those of the C library.
unsafe extern "C" {
    fn carat_plain_malloc(size: usize) -> *mut c_void;
    fn carat_plain_realloc(block: *mut c_void, size: usize) -> *mut c_void;
    fn carat_plain_free(block: *mut c_void);
    fn carat_plain_posix_memalign(place: *mut *mut c_void, alignment: usize, size: usize) -> c_int;
    fn carat_plain_aligned_alloc(alignment: usize, size: usize) -> *mut c_void;
    fn carat_plain_memalign(alignment: usize, size: usize) -> *mut c_void;
}

/// Allocates a block, and shows it to the observer.
#[cold]
#[inline(never)]
pub(crate) fn show(asked: usize, allocate: impl FnOnce() -> *mut c_void) -> *mut c_void {
    let block = allocate();
    if let Some(observer) = observer() {
        // SAFETY: the block has just been allocated, or it is null.
        unsafe { (observer.allocated)(block, asked) };
    }
    block
}

/// Whether there is an observer. Each function asks this first, and then calls jemalloc's as its last act, so that it
/// needs no stack frame.
pub(crate) fn is_observed() -> bool {
    !OBSERVER.load(Ordering::Relaxed).is_null()
}

fn observer() -> Option<&'static Observer> {
    // SAFETY: it is null, or an observer that is never freed.
    unsafe { OBSERVER.load(Ordering::Acquire).as_ref() }
}

/// `malloc`.
///
/// # Safety
///
/// None: only a second symbol of this name would do harm.
// SAFETY: its contract is malloc's; no other symbol has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carat_malloc(size: usize) -> *mut c_void {
    // SAFETY: it takes a number.
    let allocate = move || unsafe { carat_plain_malloc(size) };
    if is_observed() {
        return show(size, allocate);
    }
    allocate()
}

/// `realloc`.
///
/// # Safety
///
/// The block is null, or allocated and not freed.
// SAFETY: its contract is realloc's; no other symbol has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carat_realloc(block: *mut c_void, size: usize) -> *mut c_void {
    match observer() {
        // SAFETY: the caller guarantees it.
        None => unsafe { carat_plain_realloc(block, size) },
        // SAFETY: the caller guarantees it.
        Some(observer) => unsafe { (observer.reallocate)(carat_plain_realloc, block, size) },
    }
}

/// `free`.
///
/// # Safety
///
/// The block is null, or allocated and not freed.
// SAFETY: its contract is free's; no other symbol has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carat_free(block: *mut c_void) {
    // SAFETY: the caller guarantees it.
    let free = move || unsafe { carat_plain_free(block) };
    if is_observed() {
        return announce(block, free);
    }
    free();
}

/// Shows the observer a block, and frees it.
#[cold]
#[inline(never)]
fn announce(block: *mut c_void, free: impl FnOnce()) {
    if let Some(observer) = observer() {
        // SAFETY: the block has not been freed.
        unsafe { (observer.freeing)(block) };
    }
    free();
}

/// `posix_memalign`.
///
/// # Safety
///
/// A pointer can be written to `place`.
// SAFETY: its contract is posix_memalign's; no other symbol has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carat_posix_memalign(
    place: *mut *mut c_void,
    alignment: usize,
    size: usize,
) -> c_int {
    // SAFETY: the caller guarantees it.
    let status = unsafe { carat_plain_posix_memalign(place, alignment, size) };
    if status == 0 && is_observed() {
        // SAFETY: the function has written it.
        show(size, || unsafe { *place });
    }
    status
}

/// `aligned_alloc`.
///
/// # Safety
///
/// None: only a second symbol of this name would do harm.
// SAFETY: its contract is aligned_alloc's; no other symbol has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carat_aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    // SAFETY: it takes numbers.
    let allocate = move || unsafe { carat_plain_aligned_alloc(alignment, size) };
    if is_observed() {
        return show(size, allocate);
    }
    allocate()
}

/// `memalign`.
///
/// # Safety
///
/// None: only a second symbol of this name would do harm.
// SAFETY: its contract is memalign's; no other symbol has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carat_memalign(alignment: usize, size: usize) -> *mut c_void {
    // SAFETY: it takes numbers.
    let allocate = move || unsafe { carat_plain_memalign(alignment, size) };
    if is_observed() {
        return show(size, allocate);
    }
    allocate()
}
