//! `Carat::Native::Scheduler`: the hooks that Ruby calls in place of blocking.

mod bytes;
mod core;
mod fibers;
mod registry;
mod selector;
mod state;
mod timeouts;
mod timers;
mod waits;

use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use magnus::rb_sys::{AsRawValue, protect};
use magnus::value::ReprValue;
use magnus::{
    Class, DataTypeFunctions, Error, IntoValue, Module, Object, RArray, RModule, Ruby, TryConvert,
    TypedData, Value, function, gc, method,
};
use rb_sys::rb_io_descriptor;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use self::registry::Guarded;
use self::state::Wish;
use self::timeouts::Timeout;
use self::waits::Outcome;
use crate::{error, fork};

/// `IO::READABLE`, as `poll` and epoll number it too.
const READABLE: u16 = 1;

/// One thread's scheduler.
#[derive(TypedData)]
#[magnus(class = "Carat::Native::Scheduler", free_immediately, mark, size)]
pub(crate) struct Scheduler {
    core: Arc<Guarded>,
}

impl Default for Scheduler {
    fn default() -> Self {
        Scheduler {
            core: registry::enlist(),
        }
    }
}

impl DataTypeFunctions for Scheduler {
    fn mark(&self, marker: &gc::Marker) {
        self.core.mark(marker);
    }
}

/// Defines the class.
pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    fork::watch();
    let class = native.define_class("Scheduler", ruby.class_object())?;
    class.define_alloc_func::<Scheduler>();
    class.define_singleton_method("closing", function!(closing, 1))?;
    class.define_singleton_method("admit", function!(admit, 0))?;
    class.define_singleton_method("ended", function!(fibers::ended, 0))?;
    class.define_method("start", method!(Scheduler::start, 1))?;
    class.define_method("run_fibers", method!(Scheduler::run_fibers, 0))?;
    class.define_method("cancel", method!(Scheduler::cancel, 0))?;
    class.define_method("release", method!(Scheduler::release, 0))?;
    class.define_method("nested?", method!(Scheduler::is_nested, 0))?;
    class.define_method("waiting", method!(Scheduler::waiting, 0))?;
    class.define_method("kernel_sleep", method!(Scheduler::kernel_sleep, -1))?;
    class.define_method("yield", method!(Scheduler::pause, 0))?;
    class.define_method("block", method!(Scheduler::block, -1))?;
    class.define_method("unblock", method!(Scheduler::unblock, 2))?;
    class.define_method("fiber_interrupt", method!(Scheduler::interrupt, 2))?;
    class.define_method("io_wait", method!(Scheduler::io_wait, 3))?;
    class.define_method("io_close", method!(Scheduler::io_close, 1))?;
    class.define_method("wait_any", method!(Scheduler::wait_any, 2))?;
    class.define_method("await_exit", method!(Scheduler::await_exit, 1))?;
    class.define_method("arm_timeout", method!(Scheduler::arm_timeout, 3))?;
    class.define_method("disarm_timeout", method!(Scheduler::disarm_timeout, 1))?;
    bytes::define(ruby, class)
}

/// Raises an `IOError` in every fiber, of any thread, that waits for this IO; for whoever is about to close it.
fn closing(io: Value) {
    if !registry::is_empty()
        && let Ok(number) = descriptor(io)
    {
        registry::close(number);
    }
}

/// Counts a new fiber; raises when the kernel has no room for its stack.
fn admit(ruby: &Ruby) -> Result<(), Error> {
    fibers::admit().map_err(|reason| error::scheduler(ruby, reason))
}

impl Scheduler {
    /// Starts a fiber; returns when it waits for the first time, or ends.
    fn start(ruby: &Ruby, scheduler: &Scheduler, fiber: Value) -> Result<(), Error> {
        scheduler.core.start(ruby, fiber.as_raw())
    }

    /// Runs until no fiber waits any more.
    fn run_fibers(ruby: &Ruby, scheduler: &Scheduler) -> Result<(), Error> {
        scheduler.core.run(ruby)
    }

    /// Raises `Cancelled` in every fiber that waits, or is going to, and lets them end.
    fn cancel(ruby: &Ruby, scheduler: &Scheduler) -> Result<(), Error> {
        scheduler.core.cancel(ruby)
    }

    /// Gives back what the kernel holds for it.
    fn release(&self) {
        self.core.state().close_selector();
    }

    /// Whether this fiber is one of those that the scheduler runs.
    fn is_nested(&self) -> bool {
        self.core.is_nested()
    }

    /// How many fibers wait.
    fn waiting(&self) -> usize {
        self.core.state().wait_count()
    }

    /// The hook of `Kernel#sleep` and `Mutex#sleep`.
    fn kernel_sleep(ruby: &Ruby, scheduler: &Scheduler, args: &[Value]) -> Result<bool, Error> {
        let duration = args.first().copied();
        if duration.is_some_and(|value| f64::try_convert(value).is_ok_and(|seconds| seconds < 0.0))
        {
            return Err(Error::new(
                ruby.exception_arg_error(),
                "time interval must not be negative",
            ));
        }
        let limit = duration.map_or(Ok(None), limit)?;
        let wish = Wish {
            limit,
            is_block: true,
            is_pause: limit == Some(Duration::ZERO),
            ..Wish::default()
        };
        scheduler.core.wait(ruby, &wish)?;
        Ok(true)
    }

    /// Lets the others have their turn.
    fn pause(ruby: &Ruby, scheduler: &Scheduler) -> Result<(), Error> {
        let wish = Wish {
            is_pause: true,
            ..Wish::default()
        };
        scheduler.core.wait(ruby, &wish).map(|_| ())
    }

    /// The hook of whatever is woken by `unblock`: whether it was.
    fn block(ruby: &Ruby, scheduler: &Scheduler, args: &[Value]) -> Result<bool, Error> {
        let wish = Wish {
            limit: args.get(1).copied().map_or(Ok(None), limit)?,
            is_block: true,
            ..Wish::default()
        };
        let outcome = scheduler.core.wait(ruby, &wish)?;
        Ok(matches!(outcome, Outcome::Unblocked))
    }

    /// Wakes a fiber that blocks; any thread may call it. Until 3.2, Ruby calls this between a failed system call and
    /// the look at its errno.
    fn unblock(&self, _blocker: Value, fiber: Value) {
        // SAFETY: the C library always knows this thread's errno.
        let errno = unsafe { &mut *libc::__errno_location() };
        let before = *errno;
        self.core.state().unblock(fiber.as_raw());
        self.core.notify();
        *errno = before;
    }

    /// The hook by which newer Rubies raise in a fiber whose IO is closed; any thread may call it.
    fn interrupt(&self, fiber: Value, exception: Value) -> bool {
        let is_waiting = self
            .core
            .state()
            .interrupt(fiber.as_raw(), exception.as_raw());
        self.core.notify();
        is_waiting
    }

    /// The hook of every wait for an IO: the events that it is ready for, or false when the time is over. When that is
    /// the IO's own, it is an `IO::TimeoutError`: from false, Ruby 3.3 would make an `Errno::EAGAIN`.
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
        let wish = Wish {
            limit: limit(timeout)?,
            descriptors: &[(descriptor(io)?, events)],
            ..Wish::default()
        };
        match scheduler.core.wait(ruby, &wish)? {
            Outcome::Ready(events) => Ok(events.into_value_with(ruby)),
            _ if is_own => Err(error::io_timeout(ruby)),
            _ => Ok(ruby.qfalse().as_value()),
        }
    }

    /// The hook by which newer Rubies tell that a descriptor has been closed.
    fn io_close(&self, number: RawFd) {
        self.core.state().close(number);
    }

    /// Waits for the first of several IOs, given as pairs of IO and events. False when the time is over before.
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
        let wish = Wish {
            limit: limit(timeout)?,
            descriptors: &descriptors,
            ..Wish::default()
        };
        let outcome = scheduler.core.wait(ruby, &wish)?;
        Ok(matches!(outcome, Outcome::Ready(_)))
    }

    /// Waits until a child process has ended. False when the kernel cannot tell.
    fn await_exit(ruby: &Ruby, scheduler: &Scheduler, pid: i32) -> Result<bool, Error> {
        let pid = Pid::from_raw(pid).filter(|pid| pid.as_raw_nonzero().get() > 0);
        let Some(Ok(process)) = pid.map(|pid| pidfd_open(pid, PidfdFlags::empty())) else {
            return Ok(false);
        };
        let number = process.as_fd().as_raw_fd();
        let wish = Wish {
            descriptors: &[(number, READABLE)],
            ..Wish::default()
        };
        let ended = scheduler.core.wait(ruby, &wish);
        scheduler.core.state().close(number);
        ended.map(|_| true)
    }

    /// From now on this fiber may be interrupted by `exception`, after so many seconds. Returns the number for
    /// `disarm_timeout`.
    fn arm_timeout(
        ruby: &Ruby,
        scheduler: &Scheduler,
        seconds: Value,
        exception: Value,
        message: Value,
    ) -> Result<u64, Error> {
        let limit = limit(seconds)?.unwrap_or(Duration::MAX);
        let Some(deadline) = Instant::now().checked_add(limit) else {
            return Err(Error::new(ruby.exception_range_error(), "too long"));
        };
        let timeout = Timeout {
            fiber: core::current(),
            exception: exception.as_raw(),
            message: message.as_raw(),
            deadline,
            is_due: false,
        };
        Ok(scheduler.core.state().add_timeout(timeout))
    }

    /// The block is over, in time or not.
    fn disarm_timeout(&self, number: u64) {
        self.core.state().remove_timeout(number);
    }
}

/// Seconds as a duration: `None` for nil, and for what is longer than any clock runs.
fn limit(seconds: Value) -> Result<Option<Duration>, Error> {
    if seconds.is_nil() {
        return Ok(None);
    }
    let seconds = f64::try_convert(seconds)?;
    if seconds > 0.0 {
        return Ok(Duration::try_from_secs_f64(seconds).ok());
    }
    Ok(Some(Duration::ZERO))
}

/// The number of an IO's descriptor; raises an `IOError` when it is closed.
fn descriptor(io: Value) -> Result<RawFd, Error> {
    let mut number = -1;
    protect(|| {
        // SAFETY: `io` is live, and `protect` catches what is raised.
        number = unsafe { rb_io_descriptor(io.as_raw()) };
        rb_sys::Qnil.into()
    })?;
    Ok(number)
}

/// `IO#timeout`, which Ruby has from 3.2 on.
fn own_timeout(ruby: &Ruby, io: Value) -> Result<Value, Error> {
    if io.respond_to("timeout", false)? {
        return io.funcall("timeout", ());
    }
    Ok(ruby.qnil().as_value())
}
