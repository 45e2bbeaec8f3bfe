//! `calloc`, which allocates small pieces in an arena of their own.
//!
//! Ruby uses `calloc` for what its collector writes to in every full collection: the descriptions of its heap pages,
//! and the call sites of code (Ruby 3.3 writes to each that has not been called). Scattered among everything else, they
//! would cost a forked worker a copy of most pages that it shares. Together they fill few pages.

use std::ffi::{c_int, c_void};
use std::mem::size_of;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

use tikv_jemalloc_sys::{MALLOCX_ARENA, MALLOCX_TCACHE_NONE, MALLOCX_ZERO, mallctl, mallocx};

use crate::no_memory;
use crate::observer::{is_observed, show};

/// Larger pieces fill pages of their own in any arena.
const SMALL_BYTES: usize = 2048;

/// The number of the arena, or one of the two states below.
static ARENA: AtomicU32 = AtomicU32::new(UNMADE);
/// The state before the first call.
const UNMADE: u32 = u32::MAX;
/// The state while the arena is being made, and if that fails.
const UNAVAILABLE: u32 = u32::MAX - 1;

/// Allocates `count` times `size` zeroed bytes. Returns null and sets `ENOMEM` if there is no memory. The Makefile
/// names it `calloc`.
// SAFETY: its contract is calloc's; no other symbol has this name.
#[unsafe(no_mangle)]
pub extern "C" fn carat_calloc(count: usize, size: usize) -> *mut c_void {
    let Some(bytes) = count.checked_mul(size) else {
        return no_memory();
    };
    // SAFETY: the size is at least 1, and jemalloc has made the arena.
    let piece = unsafe { mallocx(bytes.max(1), flags(bytes)) };
    if piece.is_null() {
        return no_memory();
    }
    if is_observed() {
        return show(bytes, || piece);
    }
    piece
}

fn flags(bytes: usize) -> c_int {
    match arena() {
        Some(arena) if bytes <= SMALL_BYTES => {
            MALLOCX_ZERO | MALLOCX_TCACHE_NONE | MALLOCX_ARENA(arena)
        }
        _ => MALLOCX_ZERO,
    }
}

/// The arena for small pieces, made at the first call. Calls in the meantime, also of jemalloc, do without the arena.
fn arena() -> Option<usize> {
    let mut arena = ARENA.load(Ordering::Acquire);
    if arena == UNMADE && claim() {
        arena = create();
        ARENA.store(arena, Ordering::Release);
    }
    (arena < UNAVAILABLE).then_some(arena as usize)
}

fn claim() -> bool {
    ARENA
        .compare_exchange(UNMADE, UNAVAILABLE, Ordering::AcqRel, Ordering::Acquire)
        .is_ok()
}

fn create() -> u32 {
    let mut arena = 0u32;
    let mut length = size_of::<u32>();
    // SAFETY: the command writes a number of this length, and reads nothing.
    let status = unsafe {
        mallctl(
            c"arenas.create".as_ptr(),
            (&raw mut arena).cast(),
            &raw mut length,
            null_mut(),
            0,
        )
    };
    if status == 0 { arena } else { UNAVAILABLE }
}
