//! Carat's allocator for Ruby: jemalloc as a library that `LD_PRELOAD` puts before the C library.
//!
//! The functions are jemalloc's own, but for [`calloc`](carat_calloc). This crate adds its [`configuration`](malloc_conf)
//! and what glibc has beyond them that programs call, and never allocates for itself:
//!
//! ```sh
//! LD_PRELOAD=build/3.3.0-x86_64-linux-gnu/carat/malloc.so MALLOC_CONF=stats_print:true ruby -e ''
//! ```

mod trim;
mod zeroed;

use std::ffi::{CStr, c_char, c_void};

use libc::{_SC_PAGESIZE, ENOMEM};

pub use trim::malloc_trim;
pub use zeroed::carat_calloc;

/// Text that C reads.
#[repr(transparent)]
#[derive(Debug)]
pub struct Text(*const c_char);

// SAFETY: it points at a constant of the program.
unsafe impl Sync for Text {}

const CONFIGURATION: &CStr =
    c"narenas:1,background_thread:false,dirty_decay_ms:500,muzzy_decay_ms:0,tcache_max:1024,thp:never";

/// jemalloc's options, which it reads before the first allocation; those in the variable `MALLOC_CONF` overrule them.
/// docs/decisions/0012-one-arena.md has the measurements.
// SAFETY: jemalloc's own symbol of this name is weak, and of this type.
#[unsafe(no_mangle)]
pub static malloc_conf: Text = Text(CONFIGURATION.as_ptr());

/// Allocates whole pages; null and `ENOMEM` where there are none.
// SAFETY: jemalloc 5.3 has no function of this name, so glibc's, whose memory `free` does not know, is replaced.
#[unsafe(no_mangle)]
pub extern "C" fn pvalloc(size: usize) -> *mut c_void {
    let page = page_size();
    match size.max(1).checked_next_multiple_of(page) {
        // SAFETY: a page's size is a power of two.
        Some(size) => unsafe { libc::memalign(page, size) },
        None => no_memory(),
    }
}

fn page_size() -> usize {
    // SAFETY: it takes a number.
    let size = unsafe { libc::sysconf(_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

fn no_memory() -> *mut c_void {
    // SAFETY: errno is this thread's own.
    unsafe { *libc::__errno_location() = ENOMEM };
    std::ptr::null_mut()
}
