//! The Ruby IO around a socket: it owns the descriptor, and waiting goes through it.

use std::cell::{Cell, RefCell, RefMut};
use std::os::fd::{BorrowedFd, RawFd};

use carat_lane::{LinkError, Readiness, Step};
use magnus::value::{Opaque, ReprValue};
use magnus::{Error, Ruby, Value, gc, rb_sys::AsRawValue};
use rb_sys::{rb_io_close, rb_io_wait};

use crate::error;

/// A socket that belongs to a Ruby IO.
pub(crate) struct Io {
    value: Opaque<Value>,
    descriptor: RawFd,
    open: Cell<bool>,
}

impl Io {
    /// Wraps an open descriptor; it belongs to the new IO from now on.
    pub(crate) fn new(ruby: &Ruby, descriptor: RawFd) -> Result<Io, Error> {
        let value: Value = ruby.class_io().funcall("for_fd", (descriptor, "r+b"))?;
        // The mold's own socket is inherited, and no program that the application starts may hold it.
        value.funcall::<_, _, Value>("close_on_exec=", (true,))?;
        Ok(Io {
            value: value.into(),
            descriptor,
            open: Cell::new(true),
        })
    }

    /// Whether the socket has not been closed yet.
    pub(crate) fn is_open(&self) -> bool {
        self.open.get()
    }

    /// The socket, or an `IOError` when it has been closed.
    pub(crate) fn socket(&self, ruby: &Ruby) -> Result<BorrowedFd<'_>, Error> {
        if !self.open.get() {
            return Err(error::socket_closed(ruby));
        }
        // SAFETY: the IO owns the descriptor, lives as long as `self` marks it, and is closed by `close` alone.
        Ok(unsafe { BorrowedFd::borrow_raw(self.descriptor) })
    }

    /// Lets other threads, or fibers, run until the socket is ready. Raises what others raise into this thread.
    pub(crate) fn wait(&self, ruby: &Ruby, readiness: Readiness) -> Result<(), Error> {
        self.socket(ruby)?;
        let io = ruby.get_inner(self.value).as_raw();
        let events = ruby.integer_from_i64(events(readiness)).as_raw();
        let forever = ruby.qnil().as_raw();
        // SAFETY: the arguments are live Ruby objects, and `protect` catches what is raised.
        magnus::rb_sys::protect(|| unsafe { rb_io_wait(io, events, forever) })?;
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
            magnus::rb_sys::protect(|| unsafe { rb_io_close(io) })?;
        }
        Ok(())
    }

    pub(crate) fn mark(&self, marker: &gc::Marker) {
        marker.mark(self.value);
    }
}

/// As `rb_io_wait` numbers it.
fn events(readiness: Readiness) -> i64 {
    match readiness {
        Readiness::Readable => 1,
        Readiness::Writable => 4,
    }
}

/// Lets other fibers, or threads, run without waiting for anything.
pub(crate) fn yield_to_others(ruby: &Ruby) -> Result<(), Error> {
    ruby.module_kernel().funcall::<_, _, Value>("sleep", (0,))?;
    Ok(())
}

/// The state of an object; a `LinkError` when two threads use the object at once.
pub(crate) fn borrow<'a, S>(ruby: &Ruby, state: &'a RefCell<S>) -> Result<RefMut<'a, S>, Error> {
    let busy = |_| error::link(ruby, "the socket is in use by another thread");
    state.try_borrow_mut().map_err(busy)
}
