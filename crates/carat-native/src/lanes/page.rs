//! The worker's mapping of the page on which a lane and the edge agree which requests have begun.

use std::os::fd::BorrowedFd;
use std::ptr;
use std::sync::atomic::AtomicU32;

use carat_wire::Page;
use magnus::value::ReprValue;
use magnus::{Error, RFile, Ruby};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::interpreter::{descriptor, error};

const WORD_BYTES: usize = size_of::<AtomicU32>();

/// A shared mapping of the lane's page.
pub(crate) struct MappedPage {
    words: ptr::NonNull<[AtomicU32; Page::BYTES / WORD_BYTES]>,
}

// SAFETY: the mapping belongs to the process, not to a thread, and is only touched atomically.
unsafe impl Send for MappedPage {}

impl MappedPage {
    /// Maps the page that this IO has open. The IO is not needed afterwards.
    pub(crate) fn map(ruby: &Ruby, page: RFile) -> Result<MappedPage, Error> {
        // SAFETY: the IO is open, and `page` keeps it alive during this call.
        let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor(page.as_value())?) };
        MappedPage::map_descriptor(descriptor).map_err(|errno| error::link(ruby, errno))
    }

    fn map_descriptor(descriptor: BorrowedFd<'_>) -> Result<MappedPage, Errno> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new shared mapping at an address of the kernel's choice aliases no Rust object.
        let address = unsafe {
            mmap(
                ptr::null_mut(),
                Page::BYTES,
                protection,
                MapFlags::SHARED,
                descriptor,
                0,
            )?
        };
        let words = ptr::NonNull::new(address.cast()).expect("the kernel never maps page zero");
        Ok(MappedPage { words })
    }

    /// Begins request `id`. False when the edge has recalled it, and the worker must skip it.
    pub(crate) fn begin(&self, id: u32) -> bool {
        let Ok(begins) = self.page().begin(id);
        begins
    }

    /// Says whether the thread runs code after its response.
    pub(crate) fn linger(&self, lingers: bool) {
        let Ok(()) = self.page().linger(lingers);
    }

    fn page(&self) -> Page<&AtomicU32> {
        // SAFETY: the mapping is `BYTES` long, aligned to a page, lives as long as `self`, and is only touched atomically.
        let words = unsafe { self.words.as_ref() };
        Page::new(Page::OFFSETS.map(|offset| &words[offset / WORD_BYTES]))
    }
}

impl Drop for MappedPage {
    fn drop(&mut self) {
        // SAFETY: `map` made exactly this mapping, and nobody uses it any more.
        // It cannot fail for a mapping that exists.
        let _ = unsafe { munmap(self.words.as_ptr().cast(), Page::BYTES) };
    }
}
