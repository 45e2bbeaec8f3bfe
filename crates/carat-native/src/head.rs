//! The status and the headers of an answer, checked and encoded.

use std::ffi::c_int;
use std::ops::RangeInclusive;

use carat_wire::push_header;
use magnus::rb_sys::{AsRawValue, protect};
use magnus::{Error, Ruby, Value};
use rb_sys::{
    FIX2LONG, FIXNUM_P, RARRAY_LEN, RB_TYPE_P, VALUE, rb_ary_entry, rb_hash_foreach,
    ruby_value_type, st_retval,
};

use crate::error::{self, Invalid};
use crate::text::{bytes_of, is_string};

/// Most bytes that the headers of one response take.
const HEADERS_LIMIT: usize = 1024 * 1024;

/// Longest name of a header, in bytes.
const NAME_LIMIT: usize = 1024;

/// Final answers: 1xx are the server's own.
const STATUSES: RangeInclusive<u16> = 200..=599;

/// Headers that are meant for the server and not for the client begin with this.
const PRIVATE: &[u8] = b"rack.";

/// The shape of what an application gave as headers or body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Nothing but what the extension reads by itself.
    Plain,
    /// Something that Ruby code has to convert first.
    Other,
}

/// Why gathering headers stopped before their end.
#[derive(Debug, Clone, Copy)]
enum Stop {
    Other,
    Invalid(Invalid),
}

/// The encoded status and headers of one response; the memory is kept for the next.
#[derive(Default)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) bytes: Vec<u8>,
    pub(crate) count: u16,
    name: String,
    /// Whether a line break in a value separates two headers (Rack 2).
    split: bool,
    stopped: Option<Stop>,
}

impl Head {
    pub(crate) fn new(split: bool) -> Head {
        Head {
            split,
            ..Head::default()
        }
    }

    /// Whether no body may follow this status.
    pub(crate) fn is_bodiless(&self) -> bool {
        matches!(self.status, 204 | 304)
    }

    /// Encodes a status and headers: a Hash, or an Array of names and values in turn.
    pub(crate) fn gather(
        &mut self,
        ruby: &Ruby,
        status: Value,
        headers: Value,
    ) -> Result<Shape, Error> {
        self.bytes.clear();
        self.count = 0;
        self.stopped = self.take_status(status.as_raw()).err();
        if self.stopped.is_none() {
            self.take_headers(headers.as_raw())?;
        }
        match self.stopped.take() {
            None => Ok(Shape::Plain),
            Some(Stop::Other) => Ok(Shape::Other),
            Some(Stop::Invalid(reason)) => Err(error::invalid_response(ruby, reason)),
        }
    }

    fn take_status(&mut self, status: VALUE) -> Result<(), Stop> {
        if !FIXNUM_P(status) {
            return Err(Stop::Other);
        }
        // SAFETY: `status` is a Fixnum.
        let number = u16::try_from(unsafe { FIX2LONG(status) }).unwrap_or(0);
        self.status = Some(number)
            .filter(|number| STATUSES.contains(number))
            .ok_or(Stop::Invalid(Invalid("the status is not from 200 to 599")))?;
        Ok(())
    }

    fn take_headers(&mut self, headers: VALUE) -> Result<(), Error> {
        // SAFETY: `headers` is live, being an argument of the method that runs.
        if unsafe { RB_TYPE_P(headers, ruby_value_type::RUBY_T_HASH) } {
            let head = std::ptr::from_mut(self) as VALUE;
            protect(|| {
                // SAFETY: a live Hash; `add_pair` gets `self` back, which nobody else uses meanwhile.
                unsafe { rb_hash_foreach(headers, Some(add_pair), head) };
                headers
            })?;
        // SAFETY: as above.
        } else if unsafe { RB_TYPE_P(headers, ruby_value_type::RUBY_T_ARRAY) } {
            self.stopped = self.take_list(headers).err();
        } else {
            self.stopped = Some(Stop::Other);
        }
        Ok(())
    }

    fn take_list(&mut self, list: VALUE) -> Result<(), Stop> {
        // SAFETY: `list` is a live Array, and no Ruby code runs while it is read.
        let length = unsafe { RARRAY_LEN(list) };
        for place in (0..length).step_by(2) {
            // SAFETY: as above; beyond the end there is nil.
            let (name, value) =
                unsafe { (rb_ary_entry(list, place), rb_ary_entry(list, place + 1)) };
            self.add(name, value)?;
        }
        Ok(())
    }

    fn add(&mut self, name: VALUE, value: VALUE) -> Result<(), Stop> {
        // SAFETY: both are live, being in the application's headers, and no Ruby code runs here.
        unsafe {
            if !is_string(name) {
                return Err(Stop::Other);
            }
            let name = bytes_of(name);
            if name.starts_with(PRIVATE) {
                Ok(())
            } else if is_string(value) {
                self.push_value(name, bytes_of(value))
            } else if RB_TYPE_P(value, ruby_value_type::RUBY_T_ARRAY) {
                self.push_each(name, value)
            } else {
                Err(Stop::Other)
            }
        }
    }

    fn push_each(&mut self, name: &[u8], values: VALUE) -> Result<(), Stop> {
        // SAFETY: `values` is a live Array, its members are live, and no Ruby code runs here.
        unsafe {
            for place in 0..RARRAY_LEN(values) {
                let value = rb_ary_entry(values, place);
                if !is_string(value) {
                    return Err(Stop::Other);
                }
                self.push_value(name, bytes_of(value))?;
            }
        }
        Ok(())
    }

    fn push_value(&mut self, name: &[u8], value: &[u8]) -> Result<(), Stop> {
        if self.split && value.contains(&b'\n') {
            return value
                .split(|byte| *byte == b'\n')
                .try_for_each(|line| self.push(name, line));
        }
        self.push(name, value)
    }

    fn push(&mut self, name: &[u8], value: &[u8]) -> Result<(), Stop> {
        let invalid = |reason| Err(Stop::Invalid(Invalid(reason)));
        if name.is_empty() || name.len() > NAME_LIMIT || !name.is_ascii() {
            return invalid("a header's name is empty, too long or not ASCII");
        }
        if self.bytes.len() + name.len() + value.len() > HEADERS_LIMIT || self.count == u16::MAX {
            return invalid("the headers are too large");
        }
        self.name.clear();
        self.name.extend(
            name.iter()
                .map(|byte| char::from(byte.to_ascii_lowercase())),
        );
        push_header(&mut self.bytes, &self.name, value);
        self.count += 1;
        Ok(())
    }
}

/// Called by `rb_hash_foreach` for each header.
///
/// # Safety
/// `head` is the pointer to the `Head` that asked for it, and nobody else uses that meanwhile.
unsafe extern "C" fn add_pair(name: VALUE, value: VALUE, head: VALUE) -> c_int {
    // SAFETY: `take_headers` passes a pointer to its own `Head`, which it does not touch meanwhile.
    let head = unsafe { &mut *(head as *mut Head) };
    match head.add(name, value) {
        Ok(()) => st_retval::ST_CONTINUE as c_int,
        Err(stop) => {
            head.stopped = Some(stop);
            st_retval::ST_STOP as c_int
        }
    }
}
