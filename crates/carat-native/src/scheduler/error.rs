//! The exceptions of schedulers.

use std::borrow::Cow;
use std::sync::OnceLock;

use magnus::value::Opaque;
use magnus::{Error, ExceptionClass, Module, RModule, Ruby};

use crate::interpreter::error::made;
pub(super) use crate::interpreter::error::system_call;

struct SchedulerErrors {
    scheduler: Opaque<ExceptionClass>,
    cancelled: Opaque<ExceptionClass>,
}

static CLASSES: OnceLock<SchedulerErrors> = OnceLock::new();

/// Defines the classes under `Carat::Native`, whose constants keep them alive.
pub(super) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let (standard, exception) = (ruby.exception_standard_error(), ruby.exception_exception());
    let classes = SchedulerErrors {
        scheduler: native.define_error("SchedulerError", standard)?.into(),
        // Not a StandardError: applications must not rescue the end of their fiber.
        cancelled: native.define_error("Cancelled", exception)?.into(),
    };
    CLASSES.get_or_init(|| classes);
    Ok(())
}

/// A scheduler is used in a way that cannot work.
pub(super) fn scheduler(ruby: &Ruby, reason: impl Into<Cow<'static, str>>) -> Error {
    made(class(ruby, |it| it.scheduler), &reason.into())
}

/// The scheduler ends, and with it every fiber that waits.
pub(super) fn cancelled(ruby: &Ruby) -> Error {
    made(class(ruby, |it| it.cancelled), "the scheduler has ended")
}

/// The IO was closed while a fiber waits for it; the message is Ruby's.
pub(super) fn closed(ruby: &Ruby) -> Error {
    made(ruby.exception_io_error(), "stream closed in another thread")
}

/// Whether the error is the end of the scheduler.
pub(super) fn is_cancelled(ruby: &Ruby, error: &Error) -> bool {
    error.is_kind_of(class(ruby, |it| it.cancelled))
}

/// The timeout of an IO has expired: `IO::TimeoutError`, where Ruby has it.
pub(super) fn io_timeout(ruby: &Ruby) -> Error {
    let class = ruby
        .class_io()
        .const_get::<_, ExceptionClass>("TimeoutError")
        .unwrap_or_else(|_| ruby.exception_io_error());
    made(class, "Blocking operation timed out!")
}

fn class(ruby: &Ruby, pick: fn(&SchedulerErrors) -> Opaque<ExceptionClass>) -> ExceptionClass {
    let classes = CLASSES
        .get()
        .expect("`define` runs before any method exists");
    ruby.get_inner(pick(classes))
}
