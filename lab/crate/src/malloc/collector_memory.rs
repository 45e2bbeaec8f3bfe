//! `Carat::Lab::Heap.watch_collector`: what the garbage collector allocates for itself.
//!
//! Its stack of objects to mark keeps 8 bytes for each element of the largest container: the memory of a collection, not
//! of the application. While the collector marks, nobody else allocates; it does so in steps between [`ENTER`] and
//! [`EXIT`], until [`END_MARK`].

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use magnus::{Error, Object, RModule, Ruby, function};
use rb_sys::{
    RUBY_INTERNAL_EVENT_GC_END_MARK as END_MARK, RUBY_INTERNAL_EVENT_GC_ENTER as ENTER,
    RUBY_INTERNAL_EVENT_GC_EXIT as EXIT, RUBY_INTERNAL_EVENT_GC_START as START, VALUE,
    rb_gc_register_mark_object, rb_tracearg_event_flag, rb_tracearg_from_tracepoint,
    rb_tracepoint_enable, rb_tracepoint_new,
};

use crate::malloc::Counters;

/// Whether a collection has begun to mark and not ended.
static MARKS: AtomicBool = AtomicBool::new(false);
/// The counter of this thread at the beginning of a step.
static BEFORE: AtomicI64 = AtomicI64::new(NOT_WITHIN);
/// The sum over all steps.
static BYTES: AtomicI64 = AtomicI64::new(0);

const NOT_WITHIN: i64 = i64::MIN;

/// Defines the functions on `Carat::Lab::Heap`.
pub(crate) fn define(heap: RModule) -> Result<(), Error> {
    heap.define_singleton_method("watch_collector", function!(watch_collector, 0))?;
    heap.define_singleton_method("collector_bytes", function!(collector_bytes, 0))
}

/// Begins to count, for the rest of the life of the process. Call it once.
fn watch_collector(_ruby: &Ruby) {
    let events = START | END_MARK | ENTER | EXIT;
    // SAFETY: Ruby calls the function with the tracepoint, and the object is kept for good.
    unsafe {
        let tracepoint = rb_tracepoint_new(0, events, Some(on_event), std::ptr::null_mut());
        rb_gc_register_mark_object(tracepoint);
        rb_tracepoint_enable(tracepoint);
    }
}

/// Returns the bytes that the collector has allocated for itself since then, and not freed.
fn collector_bytes(_ruby: &Ruby) -> i64 {
    BYTES.load(Ordering::Relaxed)
}

// SAFETY: only Ruby calls it, with a tracepoint and during an event.
unsafe extern "C" fn on_event(tracepoint: VALUE, _data: *mut c_void) {
    // SAFETY: Ruby calls this with a tracepoint, during an event.
    let event = unsafe { rb_tracearg_event_flag(rb_tracearg_from_tracepoint(tracepoint)) };
    match event {
        START => {
            MARKS.store(true, Ordering::Relaxed);
            begin();
        }
        ENTER if MARKS.load(Ordering::Relaxed) => begin(),
        END_MARK => {
            end();
            MARKS.store(false, Ordering::Relaxed);
        }
        EXIT => end(),
        _ => {}
    }
}

fn begin() {
    if let Some(counters) = Counters::find() {
        BEFORE.store(counters.net(), Ordering::Relaxed);
    }
}

fn end() {
    let before = BEFORE.swap(NOT_WITHIN, Ordering::Relaxed);
    if let Some(counters) = Counters::find().filter(|_| before != NOT_WITHIN) {
        BYTES.fetch_add(counters.net() - before, Ordering::Relaxed);
    }
}
