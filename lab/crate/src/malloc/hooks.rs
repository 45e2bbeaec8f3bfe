//! jemalloc's hooks: functions that it calls for each allocation and each `free`, in any build of it. Without hooks they
//! cost nothing. It does not call them for what a hook itself allocates.

use std::ffi::{c_int, c_void};
use std::mem::{size_of, transmute};
use std::ptr::null_mut;

use crate::libraries::function;
use crate::malloc::Mallctl;

// SAFETY: jemalloc calls such a function with the block and what the hook was installed with.
type OnAllocation = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void, usize, *const usize);
// SAFETY: as above; the block is not to be read.
type OnFree = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void, *const usize);
// SAFETY: as above, with the old and the new size.
type OnExpansion =
    unsafe extern "C" fn(*mut c_void, c_int, *mut c_void, usize, usize, usize, *const usize);
// SAFETY: the block must be one of the allocator.
type UsableSize = unsafe extern "C" fn(*mut c_void) -> usize;

/// As jemalloc's `hooks_t`. The functions are called in any thread, at any time.
#[repr(C)]
pub(crate) struct Hooks {
    alloc: OnAllocation,
    free: OnFree,
    expand: Option<OnExpansion>,
    extra: *mut c_void,
}

impl Hooks {
    /// For functions that take nothing with them.
    pub(crate) fn new(alloc: OnAllocation, free: OnFree, expand: Option<OnExpansion>) -> Hooks {
        Hooks {
            alloc,
            free,
            expand,
            extra: null_mut(),
        }
    }

    /// Returns a handle for [`remove`], or `None` when jemalloc has no hooks.
    pub(crate) fn install(mut self, mallctl: &Mallctl) -> Option<usize> {
        let mut handle = 0_usize;
        let mut length = size_of::<usize>();
        // SAFETY: jemalloc copies the hooks, and writes a pointer. The hooks are functions of this library, which stays.
        let status = unsafe {
            mallctl.call(
                c"experimental.hooks.install",
                (&raw mut handle).cast(),
                &raw mut length,
                (&raw mut self).cast(),
                size_of::<Hooks>(),
            )
        };
        (status == 0).then_some(handle)
    }
}

/// Removes the hooks that `install` has given this handle.
pub(crate) fn remove(mallctl: &Mallctl, mut handle: usize) {
    let handle = (&raw mut handle).cast();
    // SAFETY: jemalloc reads the handle that it has given. Should it refuse, the hooks note more and nobody reads it.
    let _ = unsafe {
        mallctl.call(
            c"experimental.hooks.remove",
            null_mut(),
            null_mut(),
            handle,
            size_of::<usize>(),
        )
    };
}

/// The allocator's function that knows the size of a block.
#[derive(Clone, Copy)]
pub(crate) struct BlockSize(UsableSize);

impl BlockSize {
    /// Returns `None` when the allocator has no such function.
    pub(crate) fn find() -> Option<BlockSize> {
        function(c"malloc_usable_size").map(|address| {
            // SAFETY: a function of this name has this signature in each allocator.
            BlockSize(unsafe { transmute::<*mut c_void, UsableSize>(address) })
        })
    }

    /// The bytes of a block.
    ///
    /// # Safety
    ///
    /// The allocator has allocated the block, and nobody has freed it.
    // SAFETY: the caller's promise, above.
    pub(crate) unsafe fn of(self, block: *mut c_void) -> usize {
        // SAFETY: the caller guarantees it.
        unsafe { (self.0)(block) }
    }
}
