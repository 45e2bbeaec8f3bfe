//! `Carat::Lab::Heap.census`: what the live objects of Ruby's heap take.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::{c_int, c_void};
use std::mem::{size_of, transmute};

use magnus::{Error, Object, RModule, Ruby, function};
use rb_sys::macros::{RARRAY_LEN, RSTRING_LEN};
use rb_sys::{VALUE, rb_hash_size_num, ruby_value_type};

use crate::heap::ruby_tables;
use crate::heap::{each_object, is, kind};
use crate::libraries;

// SAFETY: jemalloc computes from these numbers alone; the first must not be 0.
type RoundedSize = unsafe extern "C" fn(usize, c_int) -> usize;

// SAFETY: the signature is that of `gc.c` in Ruby 3.1 to 3.4; the object must be alive.
unsafe extern "C" {
    fn rb_obj_memsize_of(object: VALUE) -> usize;
}

/// An entry of a Hash with more than eight: its hash value, key, and value.
const ENTRY_BYTES: usize = 24;
const VALUE_BYTES: usize = size_of::<VALUE>();
/// How many containers do not count with the room that they keep to grow: those with most. A container that grows for
/// long is one of them; many small ones of which each keeps some room are a leak with that room.
const SPARES_LIMIT: usize = 1024;
/// How many of them do not count with any room. Of the others, growth has at most doubled what is used: a buffer with
/// more room was made with it, and hundreds of those are a leak.
const LARGEST_SPARES: usize = 64;

/// The sums over all live objects.
struct Census {
    objects: usize,
    slot_bytes: usize,
    /// Bytes that Strings, Arrays, Hashes, large Integers, and the interpreter's tables have allocated for their growth
    /// and do not use yet, with those that they use: the largest ones.
    spares: BinaryHeap<Reverse<(usize, usize)>>,
    rounded: Option<RoundedSize>,
}

/// Defines the function on `Carat::Lab::Heap`.
pub(crate) fn define(heap: RModule) -> Result<(), Error> {
    heap.define_singleton_method("census", function!(census, 0))
}

/// Returns the number of live objects, the bytes of their slots, and the bytes of malloc that the containers with the
/// most room keep to grow.
fn census(ruby: &Ruby) -> (usize, usize, usize) {
    let mut census = Census {
        objects: 0,
        slot_bytes: 0,
        spares: BinaryHeap::with_capacity(SPARES_LIMIT + 1),
        rounded: libraries::function(c"nallocx").map(|address| {
            // SAFETY: a function of this name is jemalloc's, and has this signature since its version 3.
            unsafe { transmute::<*mut c_void, RoundedSize>(address) }
        }),
    };
    each_object(|object, slot_bytes| census.count(object, slot_bytes));
    for table in ruby_tables::find(ruby) {
        census.keep(table.spare(), table.bytes - table.spare());
    }
    (census.objects, census.slot_bytes, census.spare_bytes())
}

impl Census {
    fn count(&mut self, object: VALUE, slot_bytes: usize) {
        self.objects += 1;
        self.slot_bytes += slot_bytes;
        let (spare, used) = self.spare(object, slot_bytes);
        self.keep(spare, used);
    }

    fn keep(&mut self, spare: usize, used: usize) {
        if spare > 0 {
            self.spares.push(Reverse((spare, used)));
        }
        if self.spares.len() > SPARES_LIMIT {
            self.spares.pop();
        }
    }

    fn spare_bytes(self) -> usize {
        // The largest first.
        let spares = self.spares.into_sorted_vec().into_iter().enumerate();
        let counted = spares.map(|(place, Reverse((spare, used)))| {
            if place < LARGEST_SPARES {
                spare
            } else {
                spare.min(used)
            }
        });
        counted.sum()
    }

    /// The bytes that an object has allocated and does not use, and those that it uses.
    fn spare(&self, object: VALUE, slot_bytes: usize) -> (usize, usize) {
        let Some(growing) = GrowingObject::of(object) else {
            return (0, 0);
        };
        // SAFETY: it is a live object.
        let bytes = unsafe { rb_obj_memsize_of(object) }.saturating_sub(slot_bytes);
        if bytes == 0 {
            return (0, 0);
        }
        let allocated = match growing {
            // Two blocks of sizes that jemalloc does not round.
            GrowingObject::Hash => bytes,
            GrowingObject::String | GrowingObject::Array | GrowingObject::Integer => {
                self.rounded(bytes)
            }
        };
        let used = growing.used(object, bytes);
        (allocated.saturating_sub(used), used)
    }

    /// The size of a block of so many bytes, which are not 0.
    fn rounded(&self, bytes: usize) -> usize {
        // SAFETY: jemalloc computes a size, which is not 0.
        let rounded = |function: RoundedSize| unsafe { function(bytes, 0) };
        self.rounded.map_or(bytes, rounded)
    }
}

/// An object whose memory grows in steps.
enum GrowingObject {
    String,
    Array,
    Hash,
    /// Of more than 64 bits: `RUBY_T_BIGNUM`.
    Integer,
}

impl GrowingObject {
    fn of(object: VALUE) -> Option<GrowingObject> {
        let kind = kind(object);
        if is(kind, ruby_value_type::RUBY_T_STRING) {
            Some(GrowingObject::String)
        } else if is(kind, ruby_value_type::RUBY_T_ARRAY) {
            Some(GrowingObject::Array)
        } else if is(kind, ruby_value_type::RUBY_T_BIGNUM) {
            Some(GrowingObject::Integer)
        } else {
            is(kind, ruby_value_type::RUBY_T_HASH).then_some(GrowingObject::Hash)
        }
    }

    /// The part that is used of the bytes that the object has allocated.
    fn used(&self, object: VALUE, bytes: usize) -> usize {
        // SAFETY: the object lives, and is of this type.
        unsafe {
            match self {
                GrowingObject::String => usize::try_from(RSTRING_LEN(object)).unwrap_or(0),
                GrowingObject::Array => {
                    usize::try_from(RARRAY_LEN(object)).unwrap_or(0) * VALUE_BYTES
                }
                GrowingObject::Hash => table_share(
                    bytes,
                    usize::try_from(rb_hash_size_num(object)).unwrap_or(0),
                ),
                GrowingObject::Integer => bytes,
            }
        }
    }
}

/// The part of a Hash's table that `entries` entries use: the table has room for a power of two.
fn table_share(bytes: usize, entries: usize) -> usize {
    let room = (bytes / ENTRY_BYTES)
        .checked_ilog2()
        .map_or(1, |power| 1_usize << power);
    if entries >= room {
        bytes
    } else {
        bytes * entries / room
    }
}
