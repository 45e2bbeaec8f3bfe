//! The hooks that wait for descriptors: IOs, and processes.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use carat_fibers::{WaitOutcome, WaitRequest};
use magnus::rb_sys::{AsRawValue, FromRawValue, protect};
use magnus::value::ReprValue;
use magnus::{
    Error, IntoValue, Module, Object, RArray, RClass, Ruby, TryConvert, Value, function, method,
};
use rb_sys::rb_io_get_write_io;
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::core::check_interrupts;
use super::error;
use super::{Scheduler, interval, registry};
use crate::interpreter::descriptor;
use crate::interpreter::gvl::{self, Callback};

/// `IO::READABLE`, as `poll` and epoll number it too.
const READABLE: u16 = 1;

/// Defines the methods.
pub(crate) fn define(class: RClass) -> Result<(), Error> {
    class.define_singleton_method("closing", function!(closing, 1))?;
    class.define_singleton_method("closing_half", function!(closing_half, 2))?;
    class.define_singleton_method("await_child", function!(await_child, 2))?;
    class.define_method("io_wait", method!(Scheduler::io_wait, 3))?;
    class.define_method("io_close", method!(Scheduler::io_close, 1))?;
    class.define_method("wait_any", method!(Scheduler::wait_any, 2))?;
    class.define_method("await_exit", method!(Scheduler::await_exit, 1))
}

/// Raises an `IOError` in every fiber, of any thread, that waits for this IO, which is about to be closed.
fn closing(io: Value) {
    if registry::is_empty() {
        return;
    }
    let ends = [descriptor(io), writing(io).and_then(descriptor)];
    ends.into_iter().flatten().for_each(registry::close);
}

/// Does the same as `closing` for `close_read` and `close_write`, which close the descriptor of one direction.
fn closing_half(io: Value, is_writing: bool) {
    if registry::is_empty() {
        return;
    }
    let (number, mode) = if is_writing {
        (writing(io).and_then(descriptor), OFlags::WRONLY)
    } else {
        (descriptor(io), OFlags::RDONLY)
    };
    let Ok(number) = number else { return };
    // SAFETY: only the number is used, and the kernel checks it.
    let flags = fcntl_getfl(unsafe { BorrowedFd::borrow_raw(number) });
    if flags.is_ok_and(|flags| flags & OFlags::RWMODE == mode) {
        registry::close(number);
    }
}

/// The IO that writes for this one: itself, unless `popen` has opened it for both directions.
fn writing(io: Value) -> Result<Value, Error> {
    let written = protect(|| {
        // SAFETY: `io` is a live IO, whose own methods call this; `protect` catches what is raised.
        unsafe { rb_io_get_write_io(io.as_raw()) }
    })?;
    // SAFETY: it is what Ruby has just returned.
    Ok(unsafe { Value::from_raw(written) })
}

/// Waits in this thread for the end of a child, which `pid` selects as in `waitpid`. Leaves its status unread. May
/// return early.
fn await_child(pid: i32, flags: i32) -> Result<(), Error> {
    let (kind, id) = match pid {
        -1 => (libc::P_ALL, 0),
        // SAFETY: it always succeeds.
        0 => (libc::P_PGID, unsafe { libc::getpgrp() }.unsigned_abs()),
        ..-1 => (libc::P_PGID, pid.unsigned_abs()),
        _ => (libc::P_PID, pid.unsigned_abs()),
    };
    let options = flags & !libc::WNOHANG | libc::WEXITED | libc::WNOWAIT;
    let waited = gvl::leave(&Callback::Signal, move || {
        let mut found = MaybeUninit::uninit();
        // SAFETY: the kernel writes to `found` at most, and nobody reads it.
        unsafe { libc::waitid(kind, id, found.as_mut_ptr(), options) }
    });
    waited.map_or_else(check_interrupts, |_| Ok(()))
}

impl Scheduler {
    /// The hook of every wait for an IO. Returns the events that it is ready for, or false after `timeout`. After the
    /// timeout of the IO itself, it raises `IO::TimeoutError`: for false, Ruby 3.3 would raise `Errno::EAGAIN`.
    fn io_wait(
        ruby: &Ruby,
        scheduler: &Scheduler,
        io: Value,
        events: u16,
        timeout: Value,
    ) -> Result<Value, Error> {
        let is_own = timeout.is_nil();
        let timeout = if is_own {
            own_timeout(ruby, io)?
        } else {
            timeout
        };
        let request = WaitRequest {
            limit: interval(ruby, timeout)?,
            descriptors: &[(descriptor(io)?, events)],
            ..WaitRequest::default()
        };
        match scheduler.core.wait(ruby, &request)? {
            WaitOutcome::Ready(events) => Ok(events.into_value_with(ruby)),
            _ if is_own => Err(error::io_timeout(ruby)),
            _ => Ok(ruby.qfalse().as_value()),
        }
    }

    /// The hook by which Ruby 4.0 closes a descriptor. If the hook does not return true, Ruby assumes that the
    /// descriptor is still open.
    fn io_close(ruby: &Ruby, scheduler: &Scheduler, number: RawFd) -> Result<bool, Error> {
        scheduler.core.state().close(number);
        // SAFETY: Ruby hands over the descriptor and does not use it again.
        if unsafe { libc::close(number) } == 0 {
            return Ok(true);
        }
        let cause = std::io::Error::last_os_error();
        let errno = Errno::from_io_error(&cause).unwrap_or(Errno::IO);
        Err(error::system_call(ruby, errno))
    }

    /// Waits for the first of several IOs, given as pairs of IO and events. Returns false after `timeout`.
    fn wait_any(
        ruby: &Ruby,
        scheduler: &Scheduler,
        wanted: RArray,
        timeout: Value,
    ) -> Result<bool, Error> {
        let mut descriptors = Vec::with_capacity(wanted.len());
        for pair in wanted {
            let (io, events) = <(Value, u16)>::try_convert(pair)?;
            descriptors.push((descriptor(io)?, events));
        }
        let request = WaitRequest {
            limit: interval(ruby, timeout)?,
            descriptors: &descriptors,
            ..WaitRequest::default()
        };
        let outcome = scheduler.core.wait(ruby, &request)?;
        Ok(matches!(outcome, WaitOutcome::Ready(_)))
    }

    /// Waits until a child process has ended. Returns false when the kernel cannot report that.
    fn await_exit(ruby: &Ruby, scheduler: &Scheduler, pid: i32) -> Result<bool, Error> {
        let pid = Pid::from_raw(pid).filter(|pid| pid.as_raw_nonzero().get() > 0);
        let Some(Ok(process)) = pid.map(|pid| pidfd_open(pid, PidfdFlags::empty())) else {
            return Ok(false);
        };
        let number = process.as_fd().as_raw_fd();
        let request = WaitRequest {
            descriptors: &[(number, READABLE)],
            ..WaitRequest::default()
        };
        let ended = scheduler.core.wait(ruby, &request);
        scheduler.core.state().close(number);
        ended.map(|_| true)
    }
}

/// `IO#timeout`, which Ruby has since 3.2.
pub(crate) fn own_timeout(ruby: &Ruby, io: Value) -> Result<Value, Error> {
    if io.respond_to("timeout", false)? {
        return io.funcall("timeout", ());
    }
    Ok(ruby.qnil().as_value())
}
