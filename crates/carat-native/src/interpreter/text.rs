//! Ruby Strings from bytes, and the bytes of Ruby Strings.

use std::ffi::{c_char, c_long};

use magnus::Ruby;
use rb_sys::{
    RSTRING_LEN, RSTRING_PTR, VALUE, rb_ascii8bit_encoding, rb_enc_associate, rb_enc_interned_str,
    rb_str_capacity, rb_str_cat, rb_str_modify, rb_str_modify_expand, rb_str_new, rb_str_set_len,
    rb_utf8_encoding, ruby_value_type,
};

/// A new binary String. Raises only when memory runs out.
pub(crate) fn binary(_: &Ruby, bytes: &[u8]) -> VALUE {
    let (start, length) = parts(bytes);
    // SAFETY: `parts` gives `length` readable bytes; `&Ruby` proves that this thread holds the GVL.
    unsafe { rb_str_new(start, length) }
}

/// The frozen String that equal literals share. Raises only when memory runs out.
///
/// The String is UTF-8, as literals are: lookups of the application then compare pointers.
pub(crate) fn interned(_: &Ruby, bytes: &[u8]) -> VALUE {
    let (start, length) = parts(bytes);
    // SAFETY: `parts` gives `length` readable bytes; `&Ruby` proves that this thread holds the GVL.
    unsafe { rb_enc_interned_str(start, length, rb_utf8_encoding()) }
}

/// Makes `string` empty and binary, with room for `room` bytes. Raises when it is frozen or locked.
pub(crate) fn restart(_: &Ruby, string: VALUE, room: usize) {
    // SAFETY: `string` is a live String, and `&Ruby` proves the GVL. Its length is set after Ruby has made its
    // bytes its own.
    unsafe {
        rb_str_modify(string);
        rb_str_set_len(string, 0);
        rb_enc_associate(string, rb_ascii8bit_encoding());
        if rb_str_capacity(string) < room as u64 {
            rb_str_modify_expand(
                string,
                c_long::try_from(room).expect("a room that fits into memory"),
            );
        }
    }
}

/// Appends to a String. Raises when it is frozen or locked.
pub(crate) fn append(_: &Ruby, string: VALUE, bytes: &[u8]) {
    let (start, length) = parts(bytes);
    // SAFETY: `string` is live, `parts` gives readable bytes, and `&Ruby` proves the GVL.
    unsafe { rb_str_cat(string, start, length) };
}

/// A slice as C wants it. An empty slice's own pointer dangles, and Ruby 3.1 reads it.
fn parts(bytes: &[u8]) -> (*const c_char, c_long) {
    let readable = if bytes.is_empty() { b"\0" } else { bytes };
    let length = c_long::try_from(bytes.len()).expect("no slice is longer than isize::MAX");
    (readable.as_ptr().cast(), length)
}

/// Whether `value` is a String.
///
/// # Safety
/// `value` is a live object and this thread holds the GVL.
// SAFETY: the caller's promise, above.
pub(crate) unsafe fn is_string(value: VALUE) -> bool {
    // SAFETY: the caller's promise.
    unsafe { rb_sys::RB_TYPE_P(value, ruby_value_type::RUBY_T_STRING) }
}

/// The bytes of the String `value`.
///
/// # Safety
/// `value` is a String that stays reachable and unchanged while the slice is used, which holds as
/// long as no Ruby code runs; this thread holds the GVL.
// SAFETY: the caller's promise, above.
pub(crate) unsafe fn bytes_of<'a>(value: VALUE) -> &'a [u8] {
    // SAFETY: the caller's promise; a String's pointer is never null and valid for its length.
    unsafe {
        let length = usize::try_from(RSTRING_LEN(value)).unwrap_or(0);
        std::slice::from_raw_parts(RSTRING_PTR(value).cast(), length)
    }
}
