//! Ruby's objects: which are samples, and which of these the collector frees.
//!
//! Nobody reports each freed object, which would cost more than all samples: after each marking, the samples that have no
//! mark are those that the collector is about to free.

use std::ffi::c_void;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use rb_sys::{
    RBasic, RUBY_INTERNAL_EVENT_GC_END_MARK, RUBY_INTERNAL_EVENT_NEWOBJ, VALUE, rb_cObject,
    rb_class_real, rb_data_type_t, rb_data_typed_object_wrap, rb_gc_register_mark_object,
    rb_tracearg_from_tracepoint, rb_tracearg_object, rb_tracepoint_disable, rb_tracepoint_enable,
    rb_tracepoint_new, ruby_value_type as Kind,
};

use super::call_tree::Function;
use super::interval::OBJECTS;
use super::live_samples::SampleMemory;
use super::{Allocation, IS_ON, change, note};
use crate::heap::{ObjectMarks, SlotSize, is, kind};

static LISTENER: OnceLock<ObjectListener> = OnceLock::new();

struct ObjectListener {
    /// Of new objects.
    births: VALUE,
    /// Of the ends of markings.
    markings: VALUE,
    slot_size: SlotSize,
    marks: Option<ObjectMarks>,
}

/// Makes what [`listen`] needs: during an event, no object can be made.
pub(super) fn prepare() {
    LISTENER.get_or_init(|| {
        // SAFETY: Ruby calls the functions with the tracepoint, and with a pointer that nobody follows. The objects and
        // the type are kept for good. A type of zeros has no functions and no parent.
        let (births, markings) = unsafe {
            // Ruby marks only what has data.
            let data = (&raw const LISTENER).cast_mut().cast();
            let mut roots: rb_data_type_t = zeroed();
            roots.wrap_struct_name = c"Carat::Lab::Sampler".as_ptr();
            roots.function.dmark = Some(mark);
            let roots = Box::leak(Box::new(roots));
            rb_gc_register_mark_object(rb_data_typed_object_wrap(rb_cObject, data, roots));
            let births =
                rb_tracepoint_new(0, RUBY_INTERNAL_EVENT_NEWOBJ, Some(on_birth), null_mut());
            rb_gc_register_mark_object(births);
            let event = RUBY_INTERNAL_EVENT_GC_END_MARK;
            let markings = rb_tracepoint_new(0, event, Some(on_marking), null_mut());
            rb_gc_register_mark_object(markings);
            (births, markings)
        };
        ObjectListener {
            births,
            markings,
            slot_size: SlotSize::find(),
            marks: ObjectMarks::find(births),
        }
    });
}

/// Has Ruby report new objects, or not.
pub(super) fn report(should_report: bool) {
    if let Some(listener) = LISTENER.get() {
        switch(listener.births, should_report);
    }
}

/// Begins to watch which samples the collector frees, or ends that.
pub(super) fn watch(should_watch: bool) {
    if let Some(listener) = LISTENER.get() {
        switch(listener.markings, should_watch);
    }
}

fn switch(tracepoint: VALUE, should_be_on: bool) {
    // SAFETY: it is a tracepoint.
    let _ = unsafe {
        if should_be_on {
            rb_tracepoint_enable(tracepoint)
        } else {
            rb_tracepoint_disable(tracepoint)
        }
    };
}

// SAFETY: only Ruby calls it, with a tracepoint and during an event.
unsafe extern "C" fn on_birth(tracepoint: VALUE, _data: *mut c_void) {
    let Some(listener) = LISTENER.get() else {
        return;
    };
    // SAFETY: an event of this kind has an object, whose slot is in use.
    let (object, bytes) = unsafe {
        let object = rb_tracearg_object(rb_tracearg_from_tracepoint(tracepoint));
        (object, listener.slot_size.of(object))
    };
    let scale = OBJECTS.take(bytes);
    if let Some(scale) = scale.filter(|_| IS_ON.load(Ordering::Acquire)) {
        note(&Allocation {
            memory: SampleMemory::Object(object),
            bytes,
            objects: 1.0,
            scale,
            class: Some(class_of(object)),
        });
    }
}

// SAFETY: only Ruby calls it, with a tracepoint and during an event.
unsafe extern "C" fn on_marking(_tracepoint: VALUE, _data: *mut c_void) {
    let Some(marks) = LISTENER.get().and_then(|listener| listener.marks) else {
        return;
    };
    if IS_ON.load(Ordering::Acquire) {
        // SAFETY: the collector has not begun to free the objects.
        let is_live = |object| unsafe { marks.has(object) };
        change(|session| session.live.keep_objects(is_live));
    }
}

/// The class of a new object, or its type: objects of Ruby's own have no class, and the classes of classes say nothing.
fn class_of(object: VALUE) -> Function {
    let kind = kind(object);
    let is_beyond_classes = kind > Kind::RUBY_T_MODULE as VALUE;
    let has_class = is(kind, Kind::RUBY_T_OBJECT)
        || is(kind, Kind::RUBY_T_SYMBOL)
        || is_beyond_classes && kind <= Kind::RUBY_T_RATIONAL as VALUE;
    // SAFETY: each object begins with its flags and its class.
    let class = unsafe { (*(object as *const RBasic)).klass };
    if !has_class || class == 0 {
        return Function::Type(kind);
    }
    // SAFETY: it is a class.
    Function::Class(unsafe { rb_class_real(class) })
}

/// Marks what the stacks name, so that a method that is redefined can be described.
// SAFETY: only the collector calls it.
unsafe extern "C" fn mark(_data: *mut c_void) {
    if IS_ON.load(Ordering::Acquire) {
        change(|session| session.tree.mark());
    }
}
