//! The page in which a lane and the edge agree on which requests have begun.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{io, ptr};

use carat_wire::control::Page as Layout;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// A shared mapping of the lane's page.
pub(crate) struct Page {
    words: ptr::NonNull<[AtomicU32; Layout::BYTES / 4]>,
}

// SAFETY: the mapping belongs to the process, not to a thread, and is only touched atomically.
unsafe impl Send for Page {}

impl Page {
    /// Maps the page; the descriptor is not needed afterwards.
    pub(crate) fn map(descriptor: &OwnedFd) -> io::Result<Page> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new shared mapping at an address of the kernel's choice aliases no Rust object.
        let address = unsafe {
            mmap(
                ptr::null_mut(),
                Layout::BYTES,
                protection,
                MapFlags::SHARED,
                descriptor,
                0,
            )?
        };
        let words = ptr::NonNull::new(address.cast()).expect("the kernel never maps page zero");
        Ok(Page { words })
    }

    /// Says that request `id` begins; `false` when the edge has recalled it, and it must not.
    ///
    /// The store comes before the load for everybody (`SeqCst`): see `carat_wire::control::Page`.
    pub(crate) fn begin(&self, id: u32) -> bool {
        // SAFETY: the mapping is `BYTES` long, aligned to a page, lives as long as `self`, and is only
        // touched atomically.
        let words = unsafe { self.words.as_ref() };
        words[Layout::BEGUN_AT / 4].store(id.to_le(), Ordering::SeqCst);
        let recalled = u32::from_le(words[Layout::RECALLED_AT / 4].load(Ordering::SeqCst));
        Layout::is_behind(id, recalled)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: `map` made exactly this mapping, and nobody uses it any more.
        // It cannot fail for a mapping that exists.
        let _ = unsafe { munmap(self.words.as_ptr().cast(), Layout::BYTES) };
    }
}
