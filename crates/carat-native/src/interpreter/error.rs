//! The exceptions that the extension raises.

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
    forked: Opaque<ExceptionClass>,
}

static CLASSES: OnceLock<Classes> = OnceLock::new();

/// Defines the classes under `Carat` and `Carat::Native`, whose constants keep them alive.
pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let (standard, exception) = (ruby.exception_standard_error(), ruby.exception_exception());
    let (carat, eof) = (ruby.define_module("Carat")?, ruby.exception_eof_error());
    let classes = Classes {
        link: native.define_error("LinkError", standard)?.into(),
        invalid_response: native.define_error("InvalidResponse", standard)?.into(),
        // Errno::EPIPE, as for a socket that the other side has closed: writers expect that.
        client_gone: (native.define_error("ClientGone", broken_pipe(ruby)?)?).into(),
        // Applications may rescue this one.
        incomplete_body: carat.define_error("IncompleteBody", eof)?.into(),
        // Not a StandardError: the process cannot serve.
        forked: native.define_error("Forked", exception)?.into(),
    };
    CLASSES.get_or_init(|| classes);
    Ok(())
}

fn broken_pipe(ruby: &Ruby) -> Result<ExceptionClass, Error> {
    let errno: RModule = ruby.class_object().const_get("Errno")?;
    errno.const_get("EPIPE")
}

/// The socket failed, or the edge sent something unexpected.
pub(crate) fn link(ruby: &Ruby, cause: impl std::fmt::Display) -> Error {
    own(ruby, |it| it.link, &cause.to_string())
}

/// The response cannot be sent.
pub(crate) fn invalid_response(ruby: &Ruby, reason: InvalidHead) -> Error {
    own(ruby, |it| it.invalid_response, &reason.to_string())
}

/// The client no longer reads this response.
pub(crate) fn client_gone(ruby: &Ruby) -> Error {
    own(ruby, |it| it.client_gone, "the client is gone")
}

/// The `Errno` exception of an error number.
pub(crate) fn system_call(ruby: &Ruby, errno: Errno) -> Error {
    let made = ruby
        .exception_system_call_error()
        .funcall::<_, _, Exception>("new", (ruby.qnil(), errno.raw_os_error()));
    made.map_or_else(|error| error, Error::from)
}

/// The error of a read for which the rest of the request's body will not arrive.
pub(crate) fn incomplete_body(ruby: &Ruby) -> Error {
    own(
        ruby,
        |it| it.incomplete_body,
        "the request body is incomplete",
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
    own(
        ruby,
        |it| it.forked,
        "the socket belongs to the parent process",
    )
}

/// Makes the exception here rather than in magnus, where an interrupt of the thread (`Thread#kill`) at that moment
/// would end the process. Here, the interrupt is raised.
pub(crate) fn made(class: ExceptionClass, message: &str) -> Error {
    class
        .new_instance((message,))
        .map_or_else(|error| error, Error::from)
}

type Pick = fn(&Classes) -> Opaque<ExceptionClass>;

fn own(ruby: &Ruby, pick: Pick, message: &str) -> Error {
    made(class(ruby, pick), message)
}

fn class(ruby: &Ruby, pick: Pick) -> ExceptionClass {
    let classes = CLASSES
        .get()
        .expect("`define` runs before any method exists");
    ruby.get_inner(pick(classes))
}
