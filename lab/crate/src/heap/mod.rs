//! Ruby's heap: a walk through all objects, and what their slots take.

pub(crate) mod heap_census;
pub(crate) mod ruby_tables;

use std::ffi::{c_int, c_void};
use std::mem::transmute;

use rb_sys::{ID, RBasic, VALUE, rb_intern, ruby_value_type};

use crate::libraries::function;

// SAFETY: Ruby calls such a function with the ends of a run of slots, their size, and the pointer that it was given.
type EachSlot = unsafe extern "C" fn(*mut c_void, *mut c_void, usize, *mut c_void) -> c_int;

// SAFETY: the signature is that of `gc.c` in Ruby 3.1 to 3.4.
unsafe extern "C" {
    // Ruby exports it for its own extension `objspace`.
    fn rb_objspace_each_objects(callback: EachSlot, data: *mut c_void);
}

// SAFETY: the object must be in use.
type SlotSizeOf = unsafe extern "C" fn(VALUE) -> usize;

/// The size of all slots before Ruby 3.2.
const SLOT_BYTES: usize = 40;
/// The bits of an object's flags that hold its type.
const TYPE_MASK: VALUE = 0x1f;

/// Ruby's function that knows the size of an object's slot, since 3.2.
#[derive(Clone, Copy)]
pub(crate) struct SlotSize(Option<SlotSizeOf>);

impl SlotSize {
    pub(crate) fn find() -> SlotSize {
        SlotSize(function(c"rb_gc_obj_slot_size").map(|address| {
            // SAFETY: a function of this name is Ruby's, and has this signature since 3.2.
            unsafe { transmute::<*mut c_void, SlotSizeOf>(address) }
        }))
    }

    /// The bytes of the slot.
    ///
    /// # Safety
    ///
    /// The object must be in use.
    // SAFETY: the caller's promise, above.
    pub(crate) unsafe fn of(self, object: VALUE) -> usize {
        // SAFETY: the caller guarantees it.
        self.0.map_or(SLOT_BYTES, |size| unsafe { size(object) })
    }
}

// SAFETY: the object must be in use; so many names are written at most.
type FlagsOf = unsafe extern "C" fn(VALUE, *mut ID, usize) -> usize;
// SAFETY: the object must be in use. The array is Ruby's, and ends with an entry without a name.
type MetadataOf = unsafe extern "C" fn(VALUE) -> *const Metadata;

/// As Ruby's `rb_gc_object_metadata_entry`.
#[repr(C)]
struct Metadata {
    name: ID,
    value: VALUE,
}

/// The flags that Ruby has for an object, at most.
const FLAGS_LIMIT: usize = 16;

/// Ruby's function that says what the collector knows of an object, and the name of the mark.
#[derive(Clone, Copy)]
pub(crate) struct ObjectMarks {
    list: MarkList,
    marked: ID,
}

#[derive(Clone, Copy)]
enum MarkList {
    /// Up to Ruby 3.4.
    Flags(FlagsOf),
    Metadata(MetadataOf),
}

impl ObjectMarks {
    /// `None` when this Ruby has no such function. `object` is any.
    pub(crate) fn find(object: VALUE) -> Option<ObjectMarks> {
        let metadata = function(c"rb_gc_object_metadata").map(|address| {
            // SAFETY: a function of this name is Ruby's, and has this signature since 4.0.
            MarkList::Metadata(unsafe { transmute::<*mut c_void, MetadataOf>(address) })
        });
        let list = metadata.or_else(|| {
            // SAFETY: a function of this name is Ruby's, and had this signature up to 3.4.
            let flags = |address| unsafe { transmute::<*mut c_void, FlagsOf>(address) };
            function(c"rb_obj_gc_flags").map(|address| MarkList::Flags(flags(address)))
        })?;
        // SAFETY: the text ends with a zero byte.
        let marked = unsafe { rb_intern(c"marked".as_ptr()) };
        let marks = ObjectMarks { list, marked };
        // Ruby makes the names at the first call.
        // SAFETY: the caller has the object.
        unsafe { marks.has(object) };
        Some(marks)
    }

    /// Whether the collector has reached the object.
    ///
    /// # Safety
    ///
    /// The object's slot must be in use.
    // SAFETY: the caller's promise, above.
    pub(crate) unsafe fn has(self, object: VALUE) -> bool {
        match self.list {
            MarkList::Flags(flags_of) => {
                let mut flags = [0; FLAGS_LIMIT];
                // SAFETY: Ruby writes as many names at most.
                let count = unsafe { flags_of(object, flags.as_mut_ptr(), FLAGS_LIMIT) };
                flags.iter().take(count).any(|flag| *flag == self.marked)
            }
            MarkList::Metadata(metadata_of) => {
                // SAFETY: the caller guarantees that the slot is in use.
                let mut entry = unsafe { metadata_of(object) };
                // SAFETY: an entry without a name is the last one.
                while let Some(Metadata { name, value }) = unsafe { entry.as_ref() } {
                    if *name == 0 || *name == self.marked {
                        return *name != 0 && *value != rb_sys::Qfalse.into();
                    }
                    entry = entry.wrapping_add(1);
                }
                false
            }
        }
    }
}

/// Calls the function with each live object and the bytes of its slot, objects of Ruby's own included. It must not
/// allocate objects.
pub(crate) fn each_object<F: FnMut(VALUE, usize)>(mut function: F) {
    // SAFETY: Ruby calls `each_slot` with each run of slots, and this pointer, before it returns.
    unsafe { rb_objspace_each_objects(each_slot::<F>, (&raw mut function).cast()) };
}

/// The bits of an object that say its type, for [`is`].
pub(crate) fn kind(object: VALUE) -> VALUE {
    // SAFETY: each slot begins with the flags, whether it is in use or not.
    unsafe { (*(object as *const RBasic)).flags & TYPE_MASK }
}

/// Whether that is this type.
pub(crate) fn is(kind: VALUE, expected: ruby_value_type) -> bool {
    kind == expected as VALUE
}

// SAFETY: only `rb_objspace_each_objects` calls it, with the pointer that `each_object` passes.
unsafe extern "C" fn each_slot<F: FnMut(VALUE, usize)>(
    first: *mut c_void,
    end: *mut c_void,
    slot_bytes: usize,
    data: *mut c_void,
) -> c_int {
    // SAFETY: it is the pointer that `each_object` passes, with the same type.
    let function = unsafe { &mut *data.cast::<F>() };
    let mut slot = first as VALUE;
    while slot < end as VALUE {
        if in_use(slot) {
            function(slot, slot_bytes);
        }
        slot += slot_bytes as VALUE;
    }
    0
}

fn in_use(slot: VALUE) -> bool {
    let kind = kind(slot);
    !is(kind, ruby_value_type::RUBY_T_NONE)
        && !is(kind, ruby_value_type::RUBY_T_ZOMBIE)
        && !is(kind, ruby_value_type::RUBY_T_MOVED)
}
