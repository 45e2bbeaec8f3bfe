//! What is raised in fibers, by timeouts and by other threads.

use carat_fibers::Timeout;
use magnus::rb_sys::{AsRawValue, FromRawValue, protect};
use magnus::value::ReprValue;
use magnus::{Error, Exception, Module, RClass, Ruby, Value};
use rb_sys::{VALUE, rb_fiber_raise, rb_thread_check_ints};

use super::{Core, NOBODY};

impl Core {
    /// Raises in a fiber that does not wait here, for instance because it has resumed another one that does. Ruby 3.3
    /// finds that one; with older Rubies the exception is kept until the fiber itself waits.
    pub(super) fn interrupt_elsewhere(&self, ruby: &Ruby, number: u64) -> Result<(), Error> {
        let Some(timeout) = self.state().timeouts().get(number) else {
            return Ok(());
        };
        let mut exception = exception_of(&timeout)?;
        self.running.set(self.home.get());
        // SAFETY: both are live objects, and `protect` catches what is raised. (Up to Ruby 3.4 the pointer is `*const`.)
        let passed = protect(|| unsafe { rb_fiber_raise(timeout.fiber, 1, &raw mut exception) });
        match passed {
            Err(error) if error.is_kind_of(fiber_error(ruby)) => {
                self.state().timeouts().postpone(number);
                Ok(())
            }
            passed => passed.map(|_| ()),
        }
    }

    pub(super) fn take_due(&self, fiber: VALUE) -> Option<u64> {
        self.state().timeouts().take_due(fiber)
    }

    pub(super) fn expired(&self, number: u64) -> Error {
        let timeout = self.state().timeouts().get(number);
        let exception = timeout.map_or(Ok(NOBODY), |timeout| exception_of(&timeout));
        exception.map_or_else(|error| error, raised)
    }
}

fn fiber_error(ruby: &Ruby) -> RClass {
    let found = ruby.class_object().const_get("FiberError");
    found.unwrap_or_else(|_| ruby.class_object())
}

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
fn exception_of(timeout: &Timeout<VALUE>) -> Result<VALUE, Error> {
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
