//! jemalloc's counters of one thread.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::{size_of, transmute};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

type Mallctl =
    unsafe extern "C" fn(*const c_char, *mut c_void, *mut usize, *mut c_void, usize) -> c_int;

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
        // SAFETY: the name ends with a zero byte, and the handle stands for the whole process.
        let function = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"mallctl".as_ptr()) };
        if function.is_null() {
            return None;
        }
        // SAFETY: a function of this name is jemalloc's, and has this signature since its version 3.
        let mallctl = unsafe { transmute::<*mut c_void, Mallctl>(function) };
        Some(Counters {
            allocated: counter(mallctl, c"thread.allocatedp")?,
            deallocated: counter(mallctl, c"thread.deallocatedp")?,
        })
    }

    /// Allocated bytes less freed ones; negative when the thread frees what others have allocated.
    pub(crate) fn net(&self) -> i64 {
        let allocated = self.allocated.load(Ordering::Relaxed);
        let deallocated = self.deallocated.load(Ordering::Relaxed);
        i64::from_ne_bytes(allocated.wrapping_sub(deallocated).to_ne_bytes())
    }
}

fn counter(mallctl: Mallctl, name: &CStr) -> Option<&'static AtomicU64> {
    let mut pointer: *mut u64 = null_mut();
    let mut length = size_of::<*mut u64>();
    let old = (&raw mut pointer).cast();
    // SAFETY: jemalloc writes a pointer, and nothing unless the length is that of one.
    let status = unsafe { mallctl(name.as_ptr(), old, &raw mut length, null_mut(), 0) };
    if status != 0 || pointer.is_null() {
        return None;
    }
    // SAFETY: jemalloc keeps the counter as long as the thread lives, aligned for its type.
    Some(unsafe { AtomicU64::from_ptr(pointer) })
}
