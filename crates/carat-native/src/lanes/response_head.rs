//! Reads the status and the headers that an application returned.

use std::ffi::c_int;

use carat_lane::{HeadEncoder, InvalidHead, SWITCHING_PROTOCOLS};
use magnus::rb_sys::{AsRawValue, protect};
use magnus::{Error, Ruby, Value};
use rb_sys::{
    FIX2LONG, FIXNUM_P, RARRAY_LEN, RB_TYPE_P, VALUE, rb_ary_entry, rb_hash_foreach,
    ruby_value_type, st_retval,
};

use crate::interpreter::{bytes_of, error, is_string};

/// The shape of the status and headers that an application returned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The status and the headers are objects that the extension reads itself.
    Plain,
    /// The status or the headers contain an object that Ruby code has to convert first.
    Other,
}

/// Why reading stopped before the end.
#[derive(Clone, Copy)]
enum HeadStop {
    Other,
    Invalid(InvalidHead),
}

impl From<InvalidHead> for HeadStop {
    fn from(reason: InvalidHead) -> HeadStop {
        HeadStop::Invalid(reason)
    }
}

/// How `HeadEncoder` begins a response with this status.
pub(crate) type Start = fn(&mut HeadEncoder, u16) -> Result<(), InvalidHead>;

/// Reads a status and headers, a Hash or an Array of names and values in turn, into `head`.
pub(crate) fn read(
    ruby: &Ruby,
    head: &mut HeadEncoder,
    start: Start,
    status: Value,
    headers: Value,
) -> Result<Shape, Error> {
    let read = match read_status(head, start, status.as_raw()) {
        Ok(()) => read_headers(head, headers.as_raw())?,
        stopped => stopped,
    };
    match read {
        Ok(()) => Ok(Shape::Plain),
        Err(HeadStop::Other) => Ok(Shape::Other),
        Err(HeadStop::Invalid(reason)) => Err(error::invalid_response(ruby, reason)),
    }
}

/// Whether another protocol follows this status.
pub(crate) fn switches(status: Value) -> bool {
    let status = status.as_raw();
    // SAFETY: `status` is read as a Fixnum only if it is one.
    FIXNUM_P(status) && unsafe { FIX2LONG(status) } == SWITCHING_PROTOCOLS.into()
}

/// Reads the fields of early hints into `head`. Hints that would be invalid in a response are left out.
pub(crate) fn read_hints(head: &mut HeadEncoder, headers: Value) -> Result<Shape, Error> {
    head.start_hints();
    match read_headers(head, headers.as_raw())? {
        Ok(()) => Ok(Shape::Plain),
        Err(HeadStop::Other) => Ok(Shape::Other),
        Err(HeadStop::Invalid(_)) => {
            head.start_hints();
            Ok(Shape::Plain)
        }
    }
}

fn read_status(head: &mut HeadEncoder, start: Start, status: VALUE) -> Result<(), HeadStop> {
    if !FIXNUM_P(status) {
        return Err(HeadStop::Other);
    }
    // SAFETY: `status` is a Fixnum.
    let number = unsafe { FIX2LONG(status) };
    Ok(start(head, u16::try_from(number).unwrap_or(0))?)
}

fn read_headers(head: &mut HeadEncoder, headers: VALUE) -> Result<Result<(), HeadStop>, Error> {
    // SAFETY: `headers` is live, being an argument of the method that runs.
    if unsafe { RB_TYPE_P(headers, ruby_value_type::RUBY_T_HASH) } {
        return read_hash(head, headers);
    }
    // SAFETY: as above.
    if unsafe { RB_TYPE_P(headers, ruby_value_type::RUBY_T_ARRAY) } {
        return Ok(read_list(head, headers));
    }
    Ok(Err(HeadStop::Other))
}

/// A Hash that is read, and how far the reading has come.
struct HashReader<'a> {
    head: &'a mut HeadEncoder,
    read: Result<(), HeadStop>,
}

fn read_hash(head: &mut HeadEncoder, hash: VALUE) -> Result<Result<(), HeadStop>, Error> {
    let mut reader = HashReader { head, read: Ok(()) };
    let data = std::ptr::from_mut(&mut reader) as VALUE;
    protect(|| {
        // SAFETY: a live Hash; `add_pair` gets `reader` back, which nobody else uses meanwhile.
        unsafe { rb_hash_foreach(hash, Some(add_pair), data) };
        hash
    })?;
    Ok(reader.read)
}

fn read_list(head: &mut HeadEncoder, list: VALUE) -> Result<(), HeadStop> {
    // SAFETY: `list` is a live Array, and no Ruby code runs while it is read.
    let length = unsafe { RARRAY_LEN(list) };
    for index in (0..length).step_by(2) {
        // SAFETY: as above; beyond the end there is nil.
        let (name, value) = unsafe { (rb_ary_entry(list, index), rb_ary_entry(list, index + 1)) };
        add(head, name, value)?;
    }
    Ok(())
}

fn add(head: &mut HeadEncoder, name: VALUE, value: VALUE) -> Result<(), HeadStop> {
    // SAFETY: both are live, being in the application's headers, and no Ruby code runs here.
    unsafe {
        if !is_string(name) {
            return Err(HeadStop::Other);
        }
        let name = bytes_of(name);
        if HeadEncoder::is_private(name) {
            read_private(name)
        } else if is_string(value) {
            Ok(head.add(name, bytes_of(value))?)
        } else if RB_TYPE_P(value, ruby_value_type::RUBY_T_ARRAY) {
            add_each(head, name, value)
        } else {
            Err(HeadStop::Other)
        }
    }
}

/// Stops at the field `rack.hijack`, whose value Ruby code calls.
fn read_private(name: &[u8]) -> Result<(), HeadStop> {
    if HeadEncoder::is_hijack(name) {
        Err(HeadStop::Other)
    } else {
        Ok(())
    }
}

fn add_each(head: &mut HeadEncoder, name: &[u8], values: VALUE) -> Result<(), HeadStop> {
    // SAFETY: `values` is a live Array, its members are live, and no Ruby code runs here.
    unsafe {
        for index in 0..RARRAY_LEN(values) {
            let value = rb_ary_entry(values, index);
            if !is_string(value) {
                return Err(HeadStop::Other);
            }
            head.add(name, bytes_of(value))?;
        }
    }
    Ok(())
}

/// Called by `rb_hash_foreach` for each header.
///
/// # Safety
/// `reader` is the pointer to the `HashReader` that asked for it, and nobody else uses that meanwhile.
// SAFETY: the caller's promise, above.
unsafe extern "C" fn add_pair(name: VALUE, value: VALUE, reader: VALUE) -> c_int {
    // SAFETY: `read_hash` passes a pointer to its own `HashReader`, which it does not touch meanwhile.
    let reader = unsafe { &mut *(reader as *mut HashReader<'_>) };
    reader.read = add(reader.head, name, value);
    match reader.read {
        Ok(()) => st_retval::ST_CONTINUE as c_int,
        Err(_) => st_retval::ST_STOP as c_int,
    }
}
