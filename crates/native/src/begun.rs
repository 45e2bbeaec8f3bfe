//! The page in which a lane tells the edge which request has begun last.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{io, ptr};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use wire::control::Begun;

/// A shared mapping of the lane's page.
pub(crate) struct Page {
    word: ptr::NonNull<AtomicU32>,
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
                Begun::BYTES,
                protection,
                MapFlags::SHARED,
                descriptor,
                0,
            )?
        };
        let word = ptr::NonNull::new(address.cast()).expect("the kernel never maps page zero");
        Ok(Page { word })
    }

    /// Says that request `id` begins. What happens afterwards is seen after it by the edge.
    pub(crate) fn store(&self, id: u32) {
        // SAFETY: the mapping is `Begun::BYTES` long, aligned to a page, and lives as long as `self`.
        unsafe { self.word.as_ref() }.store(id.to_le(), Ordering::Release);
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: `map` made exactly this mapping, and nobody uses it any more.
        // It cannot fail for a mapping that exists.
        let _ = unsafe { munmap(self.word.as_ptr().cast(), Begun::BYTES) };
    }
}
