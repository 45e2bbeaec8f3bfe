//! Ruby's tables of all symbols and of all interned strings. No object owns them, and they grow by doubling.

use rb_sys::macros::RARRAY_LEN;
use rb_sys::{rb_ary_clear, rb_sym_all_symbols};

/// An entry of Ruby's `st_table`: its hash value, key, and value.
const ENTRY_BYTES: usize = 24;
/// A table has twice as many indices as entries, whose width follows its size.
const INDICES: usize = 2;
const NARROW_LIMIT: usize = 1 << 7;
const SHORT_LIMIT: usize = 1 << 15;

/// The number of all symbols. Allocates an Array, which is garbage afterward.
pub(crate) fn symbols() -> usize {
    // SAFETY: the Array is alive, and nobody else has it.
    let length = unsafe {
        let all = rb_sym_all_symbols();
        let length = RARRAY_LEN(all);
        rb_ary_clear(all);
        length
    };
    usize::try_from(length).unwrap_or(0)
}

/// The bytes that a table with so many entries does not use yet, if it has only grown.
pub(crate) fn spare_bytes(entries: usize) -> usize {
    let capacity = entries.next_power_of_two();
    (capacity - entries) * (ENTRY_BYTES + INDICES * index_bytes(capacity))
}

fn index_bytes(capacity: usize) -> usize {
    if capacity <= NARROW_LIMIT {
        1
    } else if capacity <= SHORT_LIMIT {
        2
    } else {
        4
    }
}
