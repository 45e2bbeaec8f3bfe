//! The Ruby IO that owns a socket, and through which Ruby code waits for it.

use std::cell::{Cell, RefCell, RefMut};
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};

use carat_lane::{LinkError, Readiness, Step};
use magnus::rb_sys::{AsRawValue, protect};
use magnus::value::{Opaque, ReprValue};
use magnus::{Error, RFile, Ruby, Value, gc};
use rb_sys::{rb_io_close, rb_io_descriptor, rb_io_wait};
use rustix::io::fcntl_dupfd_cloexec;

use crate::interpreter::{error, fork};

/// A socket that belongs to a Ruby IO.
pub(crate) struct Io {
    value: Opaque<Value>,
    descriptor: RawFd,
    open: Cell<bool>,
    /// The fork generation of the process that took the socket over. A process that the application forks has a copy
    /// of the descriptor, and would speak in the place of its parent.
    generation: u32,
}

impl Io {
    /// Takes over the socket of `given`, and closes `given`. Nobody else refers to the new IO, so nobody else can close
    /// it.
    pub(crate) fn take_over(ruby: &Ruby, given: RFile) -> Result<Io, Error> {
        fork::watch();
        let number = descriptor(given.as_value())?;
        // SAFETY: the IO is open, and `given` keeps it alive during this call.
        let socket = unsafe { BorrowedFd::borrow_raw(number) };
        // Programs that the application starts must not inherit the socket.
        let socket = fcntl_dupfd_cloexec(socket, 0).map_err(|errno| error::link(ruby, errno))?;
        let value = owned(ruby, socket)?;
        let io = Io {
            value: value.into(),
            descriptor: descriptor(value)?,
            open: Cell::new(true),
            generation: fork::generation(),
        };
        given.funcall::<_, _, Value>("close", ())?;
        Ok(io)
    }

    /// Whether the socket has not been closed yet.
    pub(crate) fn is_open(&self) -> bool {
        self.open.get()
    }

    /// The socket, an `IOError` when it has been closed, or a `Forked` in a process that was forked since.
    pub(crate) fn socket(&self, ruby: &Ruby) -> Result<BorrowedFd<'_>, Error> {
        if !self.open.get() {
            return Err(error::socket_closed(ruby));
        }
        if self.generation != fork::generation() {
            return Err(error::forked(ruby));
        }
        // SAFETY: the IO owns the descriptor, lives as long as `self` marks it, and is closed by `close` alone.
        Ok(unsafe { BorrowedFd::borrow_raw(self.descriptor) })
    }

    /// Lets others run until the socket is ready. Raises the exceptions that others raise in this
    /// thread.
    pub(crate) fn wait(&self, ruby: &Ruby, readiness: Readiness) -> Result<(), Error> {
        self.socket(ruby)?;
        let io = ruby.get_inner(self.value).as_raw();
        let events = ruby.integer_from_i64(events(readiness)).as_raw();
        let forever = ruby.qnil().as_raw();
        // SAFETY: the arguments are live Ruby objects, and `protect` catches what is raised.
        protect(|| unsafe { rb_io_wait(io, events, forever) })?;
        Ok(())
    }

    /// Repeats `step` on the state until it is done. The state is not borrowed while this waits, so signal handlers and
    /// other threads may use it.
    pub(crate) fn drive<S, T>(
        &self,
        ruby: &Ruby,
        state: &RefCell<S>,
        mut step: impl FnMut(&mut S, BorrowedFd<'_>) -> Result<Step<T>, LinkError>,
    ) -> Result<T, Error> {
        loop {
            let reached = {
                let mut state = borrow(ruby, state)?;
                step(&mut state, self.socket(ruby)?)
                    .map_err(|failure| error::link(ruby, failure))?
            };
            match reached {
                Step::Done(result) => return Ok(result),
                Step::Wait(readiness) => self.wait(ruby, readiness)?,
                Step::Yield => yield_to_others(ruby)?,
            }
        }
    }

    /// Closes the socket; a second call does nothing.
    pub(crate) fn close(&self, ruby: &Ruby) -> Result<(), Error> {
        if self.open.replace(false) {
            let io = ruby.get_inner(self.value).as_raw();
            // SAFETY: `io` is a live IO, and `protect` catches what is raised.
            protect(|| unsafe { rb_io_close(io) })?;
        }
        Ok(())
    }

    pub(crate) fn mark(&self, marker: &gc::Marker) {
        marker.mark(self.value);
    }
}

/// A new IO that owns the descriptor.
pub(crate) fn owned(ruby: &Ruby, descriptor: OwnedFd) -> Result<Value, Error> {
    let io = ruby
        .class_io()
        .funcall("for_fd", (descriptor.as_raw_fd(), "r+b"))?;
    let _ = descriptor.into_raw_fd(); // it belongs to the IO now
    Ok(io)
}

/// The number of an IO's descriptor; raises an `IOError` when it is closed.
pub(crate) fn descriptor(io: Value) -> Result<RawFd, Error> {
    let mut number = -1;
    protect(|| {
        // SAFETY: `io` is live, and `protect` catches what is raised.
        number = unsafe { rb_io_descriptor(io.as_raw()) };
        rb_sys::Qnil.into()
    })?;
    Ok(number)
}

/// The number of a readiness in `rb_io_wait`.
fn events(readiness: Readiness) -> i64 {
    match readiness {
        Readiness::Readable => 1,
        Readiness::Writable => 4,
    }
}

/// Lets others run without waiting for anything.
pub(crate) fn yield_to_others(ruby: &Ruby) -> Result<(), Error> {
    ruby.module_kernel().funcall::<_, _, Value>("sleep", (0,))?;
    Ok(())
}

/// The state of an object; a `LinkError` when two threads use the object at once.
pub(crate) fn borrow<'a, S>(ruby: &Ruby, state: &'a RefCell<S>) -> Result<RefMut<'a, S>, Error> {
    let busy = |_| error::link(ruby, "the socket is in use by another thread");
    state.try_borrow_mut().map_err(busy)
}
