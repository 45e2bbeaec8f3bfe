//! Ruby's garbage collector: reports that it has run, extends its heap, and closes files that the application left open.

use std::cell::Cell;

use magnus::rb_sys::protect;
use magnus::value::{Opaque, ReprValue};
use magnus::{Error, Object, RModule, Ruby, Value, function, gc};

/// How many objects are made before the size of the heap is read again.
const OBJECTS_A_LOOK: usize = 400;

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

/// Extends the heap by at least `slots` slots, with Arrays that take `slot_bytes` bytes each and are garbage at once. No
/// collection and no other thread runs meanwhile. Does nothing while the application has disabled the collector.
fn extend_heap(ruby: &Ruby, slots: usize, slot_bytes: usize) -> Result<(), Error> {
    if ruby.gc_disable() {
        return Ok(());
    }
    let extended = fill(ruby, slots, slot_bytes);
    ruby.gc_enable();
    extended
}

/// Allocates until the heap has `slots` more slots; the free slots of the pool fill up first.
fn fill(ruby: &Ruby, slots: usize, slot_bytes: usize) -> Result<(), Error> {
    let name = ruby.to_symbol("heap_available_slots");
    let available = || ruby.gc_stat(name);
    let before = available()?;
    // As many elements as fit in the slot, behind the two words of an Array's header.
    let elements = (slot_bytes / size_of::<usize>()).saturating_sub(2);
    for _ in 0..(before + slots) / OBJECTS_A_LOOK {
        if available()? >= before + slots {
            break;
        }
        // Without memory, Ruby raises, and skips the code below.
        protect(|| {
            for _ in 0..OBJECTS_A_LOOK {
                ruby.ary_new_capa(elements);
            }
            rb_sys::Qnil.into()
        })?;
    }
    Ok(())
}
