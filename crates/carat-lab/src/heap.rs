//! Ruby's heap: a walk through all objects, and what their slots take.

use std::ffi::{c_int, c_void};
use std::mem::transmute;

use rb_sys::{RBasic, VALUE, ruby_value_type};

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
        // SAFETY: the name ends with a zero byte, and the handle stands for the whole process.
        let function = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"rb_gc_obj_slot_size".as_ptr()) };
        SlotSize((!function.is_null()).then(|| {
            // SAFETY: a function of this name is Ruby's, and has this signature since 3.2.
            unsafe { transmute::<*mut c_void, SlotSizeOf>(function) }
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
