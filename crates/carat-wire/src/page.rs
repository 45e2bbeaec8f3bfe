//! The page that a lane shares with the edge: which requests have begun, which are recalled, and whether the thread
//! lingers.
//!
//! The page has three words, each written by one side. The worker writes the id of the request that it begins, and then
//! reads which requests the edge has recalled. The edge writes the id up to which it recalls requests, and then reads
//! which have begun. A fence lies between the two steps, so at least one side sees the other. The third word says
//! whether the thread lingers; it is a hint to the edge, and orders nothing.
//!
//! * A request that only the edge has seen recalled is the edge's again.
//! * A request that only the worker has seen begun runs.
//! * A request that both have seen is skipped by the worker, which says so with an `ABORT`.
//!
//! `tests/page.rs` checks this in every interleaving.
//!
//! ```
//! use std::sync::atomic::AtomicU32;
//! use carat_wire::Page;
//!
//! let page = Page::new([0, 0, 0].map(AtomicU32::new));
//! assert_eq!(page.begin(1), Ok(true));
//! assert_eq!(page.recall(3), Ok(1));
//! assert_eq!(page.begin(2), Ok(false));
//! ```

use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, Ordering};

/// A word that both sides share: memory for the worker, a file for the edge.
///
/// A word is little-endian in both. Neither side writes the other's word.
pub trait Word {
    /// Why a word cannot be read or written.
    type Error;

    /// Writes the word.
    fn store(&self, id: u32) -> Result<(), Self::Error>;

    /// Reads the word.
    fn load(&self) -> Result<u32, Self::Error>;

    /// Orders all accesses before the fence before all accesses after it, for both sides.
    fn fence() {
        std::sync::atomic::fence(Ordering::SeqCst);
    }
}

impl Word for AtomicU32 {
    type Error = Infallible;

    fn store(&self, id: u32) -> Result<(), Infallible> {
        AtomicU32::store(self, id.to_le(), Ordering::Relaxed);
        Ok(())
    }

    fn load(&self) -> Result<u32, Infallible> {
        Ok(u32::from_le(AtomicU32::load(self, Ordering::Relaxed)))
    }
}

impl<W: Word> Word for &W {
    type Error = W::Error;

    fn store(&self, id: u32) -> Result<(), W::Error> {
        (**self).store(id)
    }

    fn load(&self) -> Result<u32, W::Error> {
        (**self).load()
    }

    fn fence() {
        W::fence();
    }
}

/// The page as one side sees it.
#[derive(Debug)]
pub struct Page<W> {
    begun: W,
    recalled: W,
    lingers: W,
}

impl<W> Page<W> {
    /// The page of these words: which request has begun, which are recalled, and whether the thread lingers.
    pub fn new([begun, recalled, lingers]: [W; 3]) -> Page<W> {
        Page {
            begun,
            recalled,
            lingers,
        }
    }
}

impl Page<()> {
    /// Size of the page in bytes.
    pub const BYTES: usize = 12;
    /// Offsets of the words, in the order of [`Page::new`].
    pub const OFFSETS: [usize; 3] = [0, 4, 8];
}

impl<W: Word> Page<W> {
    /// Notes that the worker begins request `id`. False if the edge has recalled the request: the worker then skips it.
    pub fn begin(&self, id: u32) -> Result<bool, W::Error> {
        self.begun.store(id)?;
        W::fence();
        Ok(is_behind(id, self.recalled.load()?))
    }

    /// The request that the worker began last. It has begun all requests before that, too.
    pub fn begun(&self) -> Result<u32, W::Error> {
        self.begun.load()
    }

    /// Recalls the requests up to `last`. Returns the request that the worker began last. Later requests belong to the
    /// edge again.
    pub fn recall(&self, last: u32) -> Result<u32, W::Error> {
        self.recalled.store(last)?;
        W::fence();
        self.begun.load()
    }

    /// Notes whether the thread runs code after its response.
    pub fn linger(&self, lingers: bool) -> Result<(), W::Error> {
        self.lingers.store(u32::from(lingers))
    }

    /// Whether the thread runs code after its response.
    pub fn lingers(&self) -> Result<bool, W::Error> {
        Ok(self.lingers.load()? != 0)
    }

    /// Moves an old recall up to the request that has begun, which recalls nothing. Ids wrap around, so a recall that
    /// lies more than half of all ids behind would seem to be ahead. A recall of requests that have not begun stays.
    pub fn refresh_recall(&self) -> Result<(), W::Error> {
        let begun = self.begun.load()?;
        if is_behind(begun, self.recalled.load()?) {
            self.recalled.store(begun)?;
        }
        Ok(())
    }
}

/// Whether `id` comes behind `begun` on a lane, whose ids wrap around.
pub fn is_behind(id: u32, begun: u32) -> bool {
    (1..1 << 31).contains(&id.wrapping_sub(begun))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(begun: u32, recalled: u32) -> Page<AtomicU32> {
        Page::new([begun, recalled, 0].map(AtomicU32::new))
    }

    #[test]
    fn an_id_is_behind_another_also_where_the_ids_wrap_around() {
        assert!(is_behind(8, 7));
        assert!(!is_behind(7, 7));
        assert!(!is_behind(6, 7));
        assert!(is_behind(1, u32::MAX));
        assert!(!is_behind(u32::MAX, 1));
    }

    #[test]
    fn the_worker_does_not_begin_what_was_recalled() {
        let page = page(0, 0);
        assert_eq!(page.begin(1), Ok(true));
        assert_eq!(page.recall(3), Ok(1));
        assert_eq!(page.begin(2), Ok(false));
        assert_eq!(page.begin(3), Ok(false));
        assert_eq!(page.begin(4), Ok(true));
    }

    #[test]
    fn an_old_recall_never_looks_as_if_it_were_ahead() {
        const STEP: u32 = 1 << 24;
        for begun in [STEP, u32::MAX / 2, u32::MAX - STEP, u32::MAX - 1] {
            let page = page(begun, begun.wrapping_sub(STEP));
            assert_eq!(page.refresh_recall(), Ok(()));
            assert_eq!(Word::load(&page.recalled), Ok(begun));
        }
    }

    #[test]
    fn a_recall_that_is_still_wanted_is_not_refreshed() {
        let page = page(7, 100);
        assert_eq!(page.refresh_recall(), Ok(()));
        assert_eq!(Word::load(&page.recalled), Ok(100));
    }
}
