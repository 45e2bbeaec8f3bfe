//! The exceptions that are raised in fibers.

use carat_fibers::Timeout;
use magnus::rb_sys::{AsRawValue, FromRawValue, protect};
use magnus::value::ReprValue;
use magnus::{Error, Exception, Ruby, Value};
use rb_sys::{VALUE, rb_thread_check_ints};

/// Raises pending interrupts: exceptions from other threads, and signals.
pub(crate) fn check_interrupts() -> Result<(), Error> {
    protect(|| {
        // SAFETY: `protect` catches what is raised.
        unsafe { rb_thread_check_ints() };
        rb_sys::Qnil.into()
    })
    .map(|_| ())
}

/// The exception for a block that took too long.
pub(super) fn exception_of(timeout: &Timeout<VALUE>) -> Result<VALUE, Error> {
    // SAFETY: both are marked as long as the block runs.
    let (class, message) = unsafe {
        (
            Value::from_raw(timeout.exception),
            Value::from_raw(timeout.message),
        )
    };
    let exception: Value = class.funcall("exception", (message,))?;
    Ok(exception.as_raw())
}

/// The error for an object; a `TypeError` if it is no exception.
pub(super) fn raised(object: VALUE) -> Error {
    // SAFETY: the object is marked as long as somebody is to raise it.
    let value = unsafe { Value::from_raw(object) };
    match Exception::from_value(value) {
        Some(exception) => Error::from(exception),
        None => Error::new(
            Ruby::get_with(value).exception_type_error(),
            "exception object expected",
        ),
    }
}
