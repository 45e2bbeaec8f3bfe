//! Ruby's garbage collector: reports that it has run, extends its heap, and closes files that the application left open.

use std::cell::Cell;

use magnus::rb_sys::protect;
use magnus::value::{Opaque, ReprValue};
use magnus::{Error, Object, RArray, RModule, Ruby, Value, function, gc};

/// The most bytes of a page of slots.
const PAGE_BYTES: usize = 65_536;

/// Defines the function on `Carat::Native`.
pub(crate) fn define(native: RModule) -> Result<(), Error> {
    native.define_singleton_method("extend_heap", function!(extend_heap, 2))
}

/// Closes files that nothing refers to any more. Ruby code runs: finalizers.
pub(crate) fn close_forgotten_files(ruby: &Ruby) -> Result<(), Error> {
    // Unlike `rb_gc_start`, the method runs finalizers before it returns.
    ruby.module_gc().funcall::<_, _, Value>("start", ())?;
    Ok(())
}

/// An observer that is called when the collector has run.
#[derive(Default)]
pub(crate) struct CollectionWatch {
    observer: Cell<Option<Opaque<Value>>>,
    /// The number of collections at the last call of `due`, or when the observer was set.
    seen: Cell<usize>,
}

impl CollectionWatch {
    /// Replaces the observer.
    pub(crate) fn set(&self, ruby: &Ruby, observer: Value) {
        self.seen.set(ruby.gc_count());
        self.observer.set(Some(observer.into()));
    }

    /// The observer, when there is one and the collector has run since the last call.
    pub(crate) fn due(&self, ruby: &Ruby) -> Option<Value> {
        let observer = self.observer.get()?;
        let count = ruby.gc_count();
        (self.seen.replace(count) != count).then(|| ruby.get_inner(observer))
    }

    /// Marks the observer.
    pub(crate) fn mark(&self, marker: &gc::Marker) {
        if let Some(observer) = self.observer.get() {
            marker.mark(observer);
        }
    }
}

/// Extends the heap by at least `pages` pages, with Arrays that take slots of `slot_bytes` bytes each. Returns those of
/// them, about one in each page, that are not garbage at once: the collector gives a page without live objects to any
/// pool, and sweeps until it finds another, which takes milliseconds in a large heap. No collection and no other thread
/// runs meanwhile. Does nothing while the application has disabled the collector.
fn extend_heap(ruby: &Ruby, pages: usize, slot_bytes: usize) -> Result<RArray, Error> {
    if ruby.gc_disable() {
        return Ok(ruby.ary_new());
    }
    let extended = fill(ruby, pages, slot_bytes);
    ruby.gc_enable();
    extended
}

/// Allocates until the heap has `pages` more pages. The free slots of the pool fill up first, and then the empty pages
/// that the heap has already.
fn fill(ruby: &Ruby, pages: usize, slot_bytes: usize) -> Result<RArray, Error> {
    let name = ruby.to_symbol("heap_allocated_pages");
    let allocated = || ruby.gc_stat(name);
    let enough = allocated()? + pages;
    // As many elements as fit in the slot, behind the two words of an Array's header.
    let elements = (slot_bytes / size_of::<usize>()).saturating_sub(2);
    let kept = ruby.ary_new();
    for _ in 0..enough {
        if allocated()? >= enough {
            break;
        }
        // Without memory, Ruby raises, and skips the code below.
        let mut last = None;
        protect(|| {
            for _ in 0..PAGE_BYTES / slot_bytes {
                last = Some(ruby.ary_new_capa(elements));
            }
            rb_sys::Qnil.into()
        })?;
        kept.push(last)?;
    }
    Ok(kept)
}
