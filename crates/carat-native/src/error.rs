//! The exceptions that the extension raises.

use std::borrow::Cow;
use std::sync::OnceLock;

use carat_lane::InvalidHead;
use magnus::value::{Opaque, ReprValue};
use magnus::{Class, Error, Exception, ExceptionClass, Module, RModule, Ruby};
use rustix::io::Errno;

struct Classes {
    link: Opaque<ExceptionClass>,
    invalid_response: Opaque<ExceptionClass>,
    client_gone: Opaque<ExceptionClass>,
    incomplete_body: Opaque<ExceptionClass>,
    scheduler: Opaque<ExceptionClass>,
    cancelled: Opaque<ExceptionClass>,
    forked: Opaque<ExceptionClass>,
}

static CLASSES: OnceLock<Classes> = OnceLock::new();

/// Defines the classes under `Carat` and `Carat::Native`, whose constants keep them alive.
pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let standard = ruby.exception_standard_error();
    let classes = Classes {
        link: native.define_error("LinkError", standard)?.into(),
        invalid_response: native.define_error("InvalidResponse", standard)?.into(),
        // An IOError, as writing to a closed socket is: that is what bodies are prepared for.
        client_gone: native
            .define_error("ClientGone", ruby.exception_io_error())?
            .into(),
        // What the application rescues.
        incomplete_body: ruby
            .define_module("Carat")?
            .define_error("IncompleteBody", ruby.exception_eof_error())?
            .into(),
        scheduler: native.define_error("SchedulerError", standard)?.into(),
        // No StandardError: what ends a fiber together with its scheduler is not for the application to rescue.
        cancelled: native
            .define_error("Cancelled", ruby.exception_exception())?
            .into(),
        // No StandardError either: the process cannot serve.
        forked: native
            .define_error("Forked", ruby.exception_exception())?
            .into(),
    };
    CLASSES.get_or_init(|| classes);
    Ok(())
}

/// A failure of the socket or of what came through it.
pub(crate) fn link(ruby: &Ruby, cause: impl std::fmt::Display) -> Error {
    made(class(ruby, |classes| classes.link), &cause.to_string())
}

/// A response that cannot be sent.
pub(crate) fn invalid_response(ruby: &Ruby, reason: InvalidHead) -> Error {
    made(
        class(ruby, |classes| classes.invalid_response),
        &reason.to_string(),
    )
}

/// Nobody is left who would read the rest of this response.
pub(crate) fn client_gone(ruby: &Ruby) -> Error {
    made(
        class(ruby, |classes| classes.client_gone),
        "the client is gone",
    )
}

/// The exception of `Errno` that belongs to an error number.
pub(crate) fn system_call(ruby: &Ruby, errno: Errno) -> Error {
    let made = ruby
        .exception_system_call_error()
        .funcall::<_, _, Exception>("new", (ruby.qnil(), errno.raw_os_error()));
    made.map_or_else(|error| error, Error::from)
}

/// The rest of the request's body will not come.
pub(crate) fn incomplete_body(ruby: &Ruby) -> Error {
    made(
        class(ruby, |classes| classes.incomplete_body),
        "the request body has broken off",
    )
}

/// The request is over, and its body with it.
pub(crate) fn request_over(ruby: &Ruby) -> Error {
    made(ruby.exception_io_error(), "the request is over")
}

/// The socket was closed on this side.
pub(crate) fn socket_closed(ruby: &Ruby) -> Error {
    made(ruby.exception_io_error(), "the socket is closed")
}

/// The socket belongs to the process that this one was forked from.
pub(crate) fn forked(ruby: &Ruby) -> Error {
    made(
        class(ruby, |classes| classes.forked),
        "the socket belongs to the parent process",
    )
}

/// A scheduler is used as it cannot be used.
pub(crate) fn scheduler(ruby: &Ruby, reason: impl Into<Cow<'static, str>>) -> Error {
    made(class(ruby, |classes| classes.scheduler), &reason.into())
}

/// The scheduler ends, and with it the fiber that waits.
pub(crate) fn cancelled(ruby: &Ruby) -> Error {
    made(
        class(ruby, |classes| classes.cancelled),
        "the scheduler has ended",
    )
}

/// The IO was closed while a fiber waits for it; in the words of Ruby.
pub(crate) fn closed(ruby: &Ruby) -> Error {
    made(ruby.exception_io_error(), "stream closed in another thread")
}

/// Whether it is the end of the scheduler.
pub(crate) fn is_cancelled(ruby: &Ruby, error: &Error) -> bool {
    error.is_kind_of(class(ruby, |classes| classes.cancelled))
}

/// An IO's own time is over: `IO::TimeoutError`, where Ruby has it.
pub(crate) fn io_timeout(ruby: &Ruby) -> Error {
    let class = ruby
        .class_io()
        .const_get::<_, ExceptionClass>("TimeoutError")
        .unwrap_or_else(|_| ruby.exception_io_error());
    made(class, "Blocking operation timed out!")
}

/// Makes the exception here. What is raised into the thread meanwhile (`Thread#kill`) is raised instead; it would end
/// the process if magnus made it.
fn made(class: ExceptionClass, message: &str) -> Error {
    class
        .new_instance((message,))
        .map_or_else(|error| error, Error::from)
}

fn class(ruby: &Ruby, pick: impl FnOnce(&Classes) -> Opaque<ExceptionClass>) -> ExceptionClass {
    let classes = CLASSES
        .get()
        .expect("`define` runs before any method exists");
    ruby.get_inner(pick(classes))
}
