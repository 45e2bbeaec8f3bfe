//! Exceptions that timeouts and other threads raise in fibers.

use magnus::rb_sys::protect;
use magnus::{Error, Module, RClass, Ruby};
use rb_sys::{VALUE, rb_fiber_raise};

use super::exceptions::{exception_of, raised};
use super::{Core, NOBODY};

impl Core {
    /// Raises in a fiber that does not wait in this scheduler, for instance because it has resumed another fiber, which
    /// waits. Ruby 3.3 finds the resumed fiber; with older Rubies, the exception is kept until the fiber itself waits.
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
