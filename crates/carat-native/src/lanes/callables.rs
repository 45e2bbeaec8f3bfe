//! `Carat::Native.callables?`: a look at the lists whose callables run after the response.

use std::ffi::c_int;
use std::ptr;

use magnus::rb_sys::AsRawValue;
use magnus::{Error, Object, RHash, RModule, Ruby, function};
use rb_sys::{
    NIL_P, RARRAY_LEN, RB_TYPE_P, VALUE, rb_hash_tbl, rb_st_foreach, ruby_value_type, st_data_t,
    st_retval,
};

use crate::interpreter::roots;

/// Defines the function on `Carat::Native`.
pub(crate) fn define(native: RModule) -> Result<(), Error> {
    native.define_singleton_method("callables?", function!(may_have_callables, 1))
}

/// The progress of the search through an environment.
struct Look<'a> {
    /// The keys of the lists that have not been seen.
    keys: std::slice::Iter<'a, VALUE>,
    are_empty: bool,
}

/// False when both lists of an environment are empty. True also when the application has moved one of them: to find a
/// moved list would cost each request a look-up by key.
fn may_have_callables(_: &Ruby, env: RHash) -> bool {
    let mut look = Look {
        keys: roots().lists.iter(),
        are_empty: true,
    };
    let pointer = ptr::from_mut(&mut look) as st_data_t;
    // SAFETY: a live Hash; `&Ruby` proves the GVL. `next_list` gets back `look`, which nobody else uses meanwhile, and
    // neither raises nor changes the Hash.
    unsafe {
        let table = rb_hash_tbl(env.as_raw(), c"callables.rs".as_ptr(), 0);
        rb_st_foreach(table, Some(next_list), pointer);
    }
    !look.are_empty || look.keys.len() > 0
}

/// Called for the first entries of an environment.
///
/// # Safety
/// `look` is the pointer that `may_have_callables` has passed; key and value are live.
// SAFETY: the caller's promise, above.
unsafe extern "C" fn next_list(key: st_data_t, value: st_data_t, look: st_data_t) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let look = &mut *(look as *mut Look<'_>);
        look.are_empty = look.keys.next() == Some(&(key as VALUE)) && is_empty(value as VALUE);
        if look.are_empty && look.keys.len() > 0 {
            st_retval::ST_CONTINUE as c_int
        } else {
            st_retval::ST_STOP as c_int
        }
    }
}

/// # Safety
/// `list` is live.
// SAFETY: the caller's promise, above.
unsafe fn is_empty(list: VALUE) -> bool {
    // SAFETY: the caller's promise; the length is that of an Array.
    unsafe {
        NIL_P(list) || RB_TYPE_P(list, ruby_value_type::RUBY_T_ARRAY) && RARRAY_LEN(list) == 0
    }
}
