//! Carat's allocator for Ruby: jemalloc as a library that `LD_PRELOAD` puts before the C library.
//!
//! The functions are jemalloc's own, except [`calloc`](carat_calloc); an [`Observer`] can see their
//! calls. This crate adds the [`configuration`](malloc_conf) and functions of glibc that jemalloc lacks. It allocates
//! nothing for itself.
//!
//! ```sh
//! LD_PRELOAD=build/3.3.0-x86_64-linux-gnu/carat/malloc.so MALLOC_CONF=stats_print:true ruby -e ''
//! ```

mod observer;
mod trim;
mod zeroed;

use std::ffi::{CStr, c_char, c_void};

use libc::{_SC_PAGESIZE, ENOMEM};

pub use observer::{
    Observer, Reallocate, carat_aligned_alloc, carat_free, carat_malloc, carat_memalign,
    carat_observe_malloc, carat_posix_memalign, carat_realloc,
};
pub use trim::malloc_trim;
pub use zeroed::carat_calloc;

/// Text that C reads.
#[repr(transparent)]
pub struct Text(*const c_char);

// SAFETY: it points to a constant.
unsafe impl Sync for Text {}

/// The slabs are jemalloc's own, and not those of the edge in .cargo/config.toml.
const CONFIGURATION: &CStr =
    c"narenas:1,background_thread:false,dirty_decay_ms:500,muzzy_decay_ms:0,tcache_max:1024,thp:never,\
      slab_sizes:8192-8192:2|10240-10240:5|12288-12288:3|14336-14336:7";

/// The options that jemalloc reads before the first allocation. The variable `MALLOC_CONF` overrides them. The
/// measurements are in docs/decisions/0014-the-allocator.md.
// SAFETY: jemalloc's own symbol of this name is weak, and of this type.
#[unsafe(no_mangle)]
pub static malloc_conf: Text = Text(CONFIGURATION.as_ptr());

/// Allocates whole pages. Returns null and sets `ENOMEM` if there is no memory.
// SAFETY: jemalloc 5.3 has no function of this name. It replaces glibc's, whose memory `free` does not know.
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
