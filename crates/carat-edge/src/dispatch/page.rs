use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{Ordering, fence};

use carat_wire::control::Page;

/// After so many requests an old recall is refreshed.
pub(super) const RECALL_REFRESH: u32 = 1 << 24;

/// The edge's end of the page that a lane shares: see `carat_wire::control::Page`.
#[derive(Debug)]
pub(super) struct SharedPage {
    file: File,
    /// The id through which requests were recalled.
    recalled: Cell<u32>,
}

impl SharedPage {
    pub(super) fn new(file: File) -> SharedPage {
        SharedPage {
            file,
            recalled: Cell::new(0),
        }
    }

    /// The request that the worker has begun last: it and all before it have begun.
    pub(super) fn begun(&self) -> u32 {
        let mut id = [0; size_of::<u32>()];
        // The page cannot be read only if it was never written: nothing has begun.
        let _ = self.file.read_exact_at(&mut id, Page::BEGUN_AT as u64);
        u32::from_le_bytes(id)
    }

    /// Recalls what has not begun of the requests through `last`; returns what has begun.
    pub(super) fn recall(&self, last: u32) -> io::Result<u32> {
        self.write_recalled(last)?;
        fence(Ordering::SeqCst);
        Ok(self.begun())
    }

    /// Moves an old recall up to what has begun, which recalls nothing: ids wrap around, and what is
    /// half of them behind would look as if it were ahead. One that may still be wanted stays.
    pub(super) fn refresh_recall(&self) -> io::Result<()> {
        let begun = self.begun();
        if Page::is_behind(begun, self.recalled.get()) {
            self.write_recalled(begun)?;
        }
        Ok(())
    }

    fn write_recalled(&self, id: u32) -> io::Result<()> {
        self.recalled.set(id);
        let word = id.to_le_bytes();
        self.file.write_all_at(&word, Page::RECALLED_AT as u64)
    }
}

#[cfg(test)]
impl SharedPage {
    /// A page of a lane that nobody works on.
    pub(super) fn unshared() -> SharedPage {
        let file = rustix::fs::memfd_create("page", rustix::fs::MemfdFlags::CLOEXEC);
        let file = File::from(file.expect("a memfd"));
        file.set_len(Page::BYTES as u64).expect("room for the page");
        SharedPage::new(file)
    }

    /// Does what the worker does when it begins a request; whether it may.
    pub(super) fn begin(&self, id: u32) -> bool {
        let word = id.to_le_bytes();
        let written = self.file.write_all_at(&word, Page::BEGUN_AT as u64);
        written.expect("written");
        Page::is_behind(id, self.recalled())
    }

    /// What the worker sees of the recalls.
    pub(super) fn recalled(&self) -> u32 {
        let mut id = [0; size_of::<u32>()];
        let read = self.file.read_exact_at(&mut id, Page::RECALLED_AT as u64);
        read.expect("read");
        u32::from_le_bytes(id)
    }

    /// Pretends that requests were recalled through `id` before.
    pub(super) fn pretend_recalled(&self, id: u32) {
        self.write_recalled(id).expect("written");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_recall_never_looks_as_if_it_were_ahead() {
        let page = SharedPage::unshared();
        for last in [
            RECALL_REFRESH,
            u32::MAX / 2 + 1,
            u32::MAX - RECALL_REFRESH + 1,
            0,
        ] {
            let begun = last.wrapping_sub(2);
            page.begin(begun);
            page.pretend_recalled(begun.wrapping_sub(RECALL_REFRESH));
            page.refresh_recall().expect("written");
            assert_eq!(page.recalled(), begun);
        }
    }

    #[test]
    fn a_recall_that_is_still_wanted_is_not_refreshed() {
        let page = SharedPage::unshared();
        page.pretend_recalled(RECALL_REFRESH - 1);
        page.begin(7);
        page.refresh_recall().expect("written");
        assert_eq!(page.recalled(), RECALL_REFRESH - 1);
    }

    #[test]
    fn what_was_recalled_the_worker_does_not_begin() {
        let page = SharedPage::unshared();
        assert!(page.begin(1));
        assert_eq!(page.recall(3).expect("written"), 1);
        assert!(!page.begin(2));
        assert!(!page.begin(3));
        assert!(page.begin(4));
    }
}
