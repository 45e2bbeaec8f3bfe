//! Full garbage collections: whether one is due in this process, and how long requests waited for them.
//!
//! An observer in Ruby decides (`Carat::Processes::FullMarks`). It is called in the middle of a request, soon after Ruby
//! has marked, since the next collection may follow within the same request. What it notes is read by all lanes.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

use carat_wire::{Collection, CollectionDue, FullReason, HasteReason};
use magnus::{Error, Object, RModule, Ruby, Symbol, function};

use crate::processes::marking;

/// How many full collections there were.
static COUNT: AtomicU32 = AtomicU32::new(0);
/// How long the full collections took together, in microseconds.
static MICROS: AtomicU64 = AtomicU64::new(0);
/// The number of full collections that the edge has not ordered, and does not know of yet. The first request that
/// reports its wait reports them too.
static UNREPORTED: AtomicU32 = AtomicU32::new(0);
/// The bytes of the two reasons of the last of these collections: why Ruby wanted it, and why it did not wait.
static REASON: AtomicU8 = AtomicU8::new(0);
static HASTE: AtomicU8 = AtomicU8::new(0);
/// The two bytes of a [`CollectionDue`]. The next lane that sends anything reports it, unless the edge
/// knows of it.
static DUE: AtomicU16 = AtomicU16::new(NOT_DUE);
/// Whether the edge knows what is due.
static IS_TOLD: AtomicBool = AtomicBool::new(false);
/// No full collection is due.
const NOT_DUE: u16 = u16::MAX;

/// Defines the functions on `Carat::Native`.
pub(crate) fn define(native: RModule) -> Result<(), Error> {
    native.define_singleton_method("watch_marking", function!(watch_marking, 1))?;
    native.define_singleton_method("watch_marking_closely", function!(watch_closely, 1))?;
    native.define_singleton_method("full_mark_due", function!(note_due, 2))?;
    native.define_singleton_method("full_mark_done", function!(note_done, 3))
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

/// Sets why a full collection is due, nil if none is, and the load of this process in percent of one processor.
fn note_due(_: &Ruby, reason: Option<Symbol>, load: u8) -> Result<(), Error> {
    let reason = reason.map(full_reason).transpose()?;
    let due = reason.map_or(NOT_DUE, |reason| u16::from_le_bytes([reason as u8, load]));
    DUE.store(due, Relaxed);
    IS_TOLD.store(false, Relaxed);
    Ok(())
}

/// Counts a full collection, which Ruby has wanted for `reason`. The edge knows of one that it ordered, which has no
/// `haste`; any other is reported to it.
fn note_done(
    _: &Ruby,
    micros: u64,
    reason: Option<Symbol>,
    haste: Option<Symbol>,
) -> Result<(), Error> {
    MICROS.fetch_add(micros, Relaxed);
    if let Some(haste) = haste {
        let reason = reason.map(full_reason).transpose()?.unwrap_or_default();
        REASON.store(reason as u8, Relaxed);
        HASTE.store(HasteReason::named(&haste.name()?) as u8, Relaxed);
        UNREPORTED.fetch_add(1, Relaxed);
    }
    COUNT.fetch_add(1, Relaxed);
    Ok(())
}

fn full_reason(name: Symbol) -> Result<FullReason, Error> {
    Ok(FullReason::named(&name.name()?))
}

/// A full collection that is due and that the edge does not know of. The caller must report it.
pub(crate) fn take_due() -> Option<CollectionDue> {
    let due = DUE.load(Relaxed);
    if due == NOT_DUE || IS_TOLD.swap(true, Relaxed) {
        return None;
    }
    let [reason, load] = due.to_le_bytes();
    Some(CollectionDue { reason, load })
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
        if COUNT.load(Relaxed) == self.count {
            return None;
        }
        let full = UNREPORTED.swap(0, Relaxed);
        if full > 0 {
            // This report makes the edge drop what is due. Something may have become due since that collection.
            IS_TOLD.store(false, Relaxed);
        }
        Some(Collection {
            request: id,
            micros: u32::try_from(MICROS.load(Relaxed) - self.micros).unwrap_or(u32::MAX),
            full: u16::try_from(full).unwrap_or(u16::MAX),
            reason: REASON.load(Relaxed),
            haste: HASTE.load(Relaxed),
        })
    }
}
