//! jemalloc's control function, and its counters of one thread.

pub(crate) mod collector_memory;
pub(crate) mod hooks;
pub(crate) mod thread_cache;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::{size_of, transmute};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::libraries;

// SAFETY: the pointers are null or what jemalloc's manual says for the name.
type Function =
    unsafe extern "C" fn(*const c_char, *mut c_void, *mut usize, *mut c_void, usize) -> c_int;

/// jemalloc's function to read and write what it is about.
pub(crate) struct Mallctl(Function);

impl Mallctl {
    /// Returns `None` unless jemalloc is this process's allocator.
    pub(crate) fn find() -> Option<Mallctl> {
        libraries::function(c"mallctl").map(|address| {
            // SAFETY: a function of this name is jemalloc's, and has this signature since its version 3.
            Mallctl(unsafe { transmute::<*mut c_void, Function>(address) })
        })
    }

    /// An address within the allocator.
    pub(crate) fn address(&self) -> usize {
        self.0 as *const () as usize
    }

    /// Returns 0 or an error number.
    ///
    /// # Safety
    ///
    /// The pointers are null or what jemalloc's manual says for the name.
    // SAFETY: the caller's promise, above.
    pub(crate) unsafe fn call(
        &self,
        name: &CStr,
        old: *mut c_void,
        old_length: *mut usize,
        new: *mut c_void,
        new_length: usize,
    ) -> c_int {
        // SAFETY: the caller guarantees it.
        unsafe { (self.0)(name.as_ptr(), old, old_length, new, new_length) }
    }
}

/// Counts the bytes that the thread that called [`Counters::find`] allocates and frees. Each count is exact: the
/// thread's cache does not blur it.
pub(crate) struct Counters {
    allocated: &'static AtomicU64,
    deallocated: &'static AtomicU64,
}

impl Counters {
    /// Returns `None` unless jemalloc with statistics is this process's allocator. The thread must live as long as the
    /// process.
    pub(crate) fn find() -> Option<Counters> {
        let mallctl = Mallctl::find()?;
        Some(Counters {
            allocated: counter(&mallctl, c"thread.allocatedp")?,
            deallocated: counter(&mallctl, c"thread.deallocatedp")?,
        })
    }

    /// All allocated bytes.
    pub(crate) fn allocated(&self) -> u64 {
        self.allocated.load(Ordering::Relaxed)
    }

    /// Allocated bytes less freed ones; negative when the thread frees what others have allocated.
    pub(crate) fn net(&self) -> i64 {
        let allocated = self.allocated.load(Ordering::Relaxed);
        let deallocated = self.deallocated.load(Ordering::Relaxed);
        i64::from_ne_bytes(allocated.wrapping_sub(deallocated).to_ne_bytes())
    }
}

fn counter(mallctl: &Mallctl, name: &CStr) -> Option<&'static AtomicU64> {
    let mut pointer: *mut u64 = null_mut();
    let mut length = size_of::<*mut u64>();
    let old = (&raw mut pointer).cast();
    // SAFETY: jemalloc writes a pointer, and nothing unless the length is that of one.
    let status = unsafe { mallctl.call(name, old, &raw mut length, null_mut(), 0) };
    if status != 0 || pointer.is_null() {
        return None;
    }
    // SAFETY: jemalloc keeps the counter as long as the thread lives, aligned for its type.
    Some(unsafe { AtomicU64::from_ptr(pointer) })
}
