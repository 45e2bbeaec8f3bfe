//! Full garbage collections: whether one is due in this process, and how long requests waited for them.
//!
//! An observer in Ruby decides (`Carat::Processes::FullMarks`). It is called in the middle of a request, soon after Ruby
//! has marked, since the next collection may follow within the same request. What it notes is read by all lanes.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use carat_wire::Collection;
use magnus::{Error, Object, RModule, Ruby, function};

use crate::processes::marking;

/// How many full collections there were.
static COUNT: AtomicU32 = AtomicU32::new(0);
/// How long the full collections took together, in microseconds.
static MICROS: AtomicU64 = AtomicU64::new(0);
/// The number of full collections that the edge has not ordered, and does not know of yet. The first request that
/// reports its wait reports them too.
static UNREPORTED: AtomicU32 = AtomicU32::new(0);
/// Whether a full collection is due. The next lane that sends anything reports it.
static IS_DUE: AtomicBool = AtomicBool::new(false);

/// Defines the functions on `Carat::Native`.
pub(crate) fn define(native: RModule) -> Result<(), Error> {
    native.define_singleton_method("watch_marking", function!(watch_marking, 1))?;
    native.define_singleton_method("watch_marking_closely", function!(watch_closely, 1))?;
    native.define_singleton_method("full_mark_due", function!(note_due, 1))?;
    native.define_singleton_method("full_mark_done", function!(note_done, 2))
}

/// Calls `marked` of the observer after each marking that may matter to it; nil ends that. Returns false where Ruby
/// cannot tell: before 3.4.
fn watch_marking(ruby: &Ruby, observer: magnus::Value) -> Result<bool, Error> {
    let native: RModule = marking::native(ruby)?;
    native.ivar_set(marking::OBSERVER, observer)?;
    marking::watch(ruby)
}

/// Sets whether the observer is called after each marking, or only after one that makes a full collection due or
/// belongs to one.
fn watch_closely(_: &Ruby, is_wanted: bool) {
    marking::watch_closely(is_wanted);
}

/// Sets whether a full collection is due.
fn note_due(_: &Ruby, is_due: bool) {
    IS_DUE.store(is_due, Relaxed);
}

/// Counts a full collection. The edge knows of one that it ordered; any other is reported to it.
fn note_done(_: &Ruby, micros: u64, is_ordered: bool) {
    MICROS.fetch_add(micros, Relaxed);
    if !is_ordered {
        UNREPORTED.fetch_add(1, Relaxed);
    }
    COUNT.fetch_add(1, Relaxed);
}

/// Whether a full collection is due that no lane has reported yet. The flag is cleared, so the caller must report it.
pub(crate) fn take_due() -> bool {
    IS_DUE.load(Relaxed) && IS_DUE.swap(false, Relaxed)
}

/// The full collections that had happened when a request began.
#[derive(Clone, Copy, Default)]
pub(crate) struct MarksSeen {
    count: u32,
    micros: u64,
}

impl MarksSeen {
    /// The full collections until now.
    pub(crate) fn now() -> MarksSeen {
        MarksSeen {
            count: COUNT.load(Relaxed),
            micros: MICROS.load(Relaxed),
        }
    }

    /// The full collections that request `id` has waited for since it began; `None` if there were none. The caller
    /// reports them, and with them all that are unreported.
    pub(crate) fn waited(self, id: u32) -> Option<Collection> {
        (COUNT.load(Relaxed) != self.count).then(|| Collection {
            request: id,
            micros: u32::try_from(MICROS.load(Relaxed) - self.micros).unwrap_or(u32::MAX),
            full: u16::try_from(UNREPORTED.swap(0, Relaxed)).unwrap_or(u16::MAX),
        })
    }
}
