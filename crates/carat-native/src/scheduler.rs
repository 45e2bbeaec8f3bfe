//! `Carat::Native::Scheduler`: the hooks that Ruby calls instead of blocking.

mod bytes;
mod core;
mod epoll;
mod error;
mod event_batch;
mod readiness;
mod registry;
mod span;

use std::sync::Arc;
use std::time::{Duration, Instant};

use carat_fibers::{Timeout, WaitOutcome, WaitRequest, fiber_limit};
use magnus::rb_sys::{AsRawValue, FromRawValue};
use magnus::scan_args::scan_args;
use magnus::typed_data::Obj;
use magnus::value::ReprValue;
use magnus::{
    Class, DataTypeFunctions, Error, Module, Object, RModule, Ruby, TryConvert, TypedData, Value,
    function, gc, method,
};

use self::registry::Guarded;
use crate::interpreter::fork;

/// The longest timeout: a century, which the clock can still represent.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// The scheduler of a thread.
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
    error::define(ruby, native)?;
    let class = native.define_class("Scheduler", ruby.class_object())?;
    class.define_alloc_func::<Scheduler>();
    class.define_singleton_method("ended", function!(fiber_limit::ended, 0))?;
    class.define_method("admit", method!(Scheduler::admit, 0))?;
    class.define_method("start", method!(Scheduler::start, 1))?;
    class.define_method("push", method!(Scheduler::push, 1))?;
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
    class.define_method("arm_timeout", method!(Scheduler::arm_timeout, -1))?;
    class.define_method("disarm_timeout", method!(Scheduler::disarm_timeout, 1))?;
    class.define_method("longest_run", method!(Scheduler::longest_run, 0))?;
    class.define_method("woken", method!(Scheduler::woken, 0))?;
    class.define_method("end_run", method!(Scheduler::end_run, 0))?;
    class.define_method("limit_runs", method!(Scheduler::limit_runs, 1))?;
    class.define_method("next_long_run", method!(Scheduler::next_long_run, 0))?;
    readiness::define(class)?;
    bytes::define(ruby, class)
}

impl Scheduler {
    /// Counts a new fiber. Raises when the kernel has no room for its stack, and when the scheduler refuses waits.
    fn admit(ruby: &Ruby, scheduler: &Scheduler) -> Result<(), Error> {
        scheduler.core.admit(ruby)?;
        fiber_limit::admit().map_err(|reason| error::scheduler(ruby, reason))
    }

    /// Starts a fiber, and returns when it waits or ends.
    fn start(ruby: &Ruby, scheduler: &Scheduler, fiber: Value) -> Result<(), Error> {
        scheduler.core.start(ruby, fiber.as_raw())
    }

    /// Queues a fiber: a new one, or one that blocks.
    fn push(&self, fiber: Value) {
        self.core.state().push(fiber.as_raw());
    }

    /// Runs until no fiber waits.
    fn run_fibers(ruby: &Ruby, scheduler: &Scheduler) -> Result<(), Error> {
        scheduler.core.run(ruby)
    }

    /// Raises `Cancelled` in every fiber that waits, now or later, and runs the fibers to their ends.
    fn cancel(ruby: &Ruby, scheduler: &Scheduler) -> Result<(), Error> {
        scheduler.core.cancel(ruby)
    }

    /// Closes the kernel's objects.
    fn release(&self) {
        self.core.state().close_selector();
    }

    /// Whether the scheduler runs the calling fiber.
    fn is_nested(&self) -> bool {
        self.core.is_nested()
    }

    /// How many fibers wait.
    fn waiting(&self) -> usize {
        self.core.state().wait_count()
    }

    /// The hook of `Kernel#sleep`. Returns whether something has ended the sleep early.
    fn kernel_sleep(ruby: &Ruby, scheduler: &Scheduler, args: &[Value]) -> Result<bool, Error> {
        let duration = args.first().copied();
        let limit = duration.map_or(Ok(None), |value| interval(ruby, value))?;
        let request = WaitRequest {
            limit,
            is_block: true,
            is_yield: limit == Some(Duration::ZERO),
            ..WaitRequest::default()
        };
        let outcome = scheduler.core.wait(ruby, &request)?;
        Ok(matches!(outcome, WaitOutcome::Unblocked) && !request.is_yield)
    }

    /// Lets other fibers run.
    fn pause(ruby: &Ruby, scheduler: &Scheduler) -> Result<(), Error> {
        let request = WaitRequest {
            is_yield: true,
            ..WaitRequest::default()
        };
        scheduler.core.wait(ruby, &request).map(|_| ())
    }

    /// The hook of every wait that `unblock` ends. Returns whether `unblock` has ended it.
    fn block(ruby: &Ruby, scheduler: &Scheduler, args: &[Value]) -> Result<bool, Error> {
        let request = WaitRequest {
            limit: args.get(1).copied().map_or(Ok(None), limit)?,
            is_block: true,
            ..WaitRequest::default()
        };
        let outcome = scheduler.core.wait(ruby, &request)?;
        Ok(matches!(outcome, WaitOutcome::Unblocked))
    }

    /// Wakes a fiber that blocks. Any thread may call it. Up to 3.2, Ruby calls it between a failed system call and
    /// reading errno.
    fn unblock(&self, _blocker: Value, fiber: Value) {
        // SAFETY: the C library always knows this thread's errno.
        let errno = unsafe { &mut *libc::__errno_location() };
        let before = *errno;
        self.core.state().unblock(fiber.as_raw());
        self.core.notify();
        *errno = before;
    }

    /// The hook by which newer Rubies raise in a fiber whose IO is closed. Any thread may call it.
    fn interrupt(&self, fiber: Value, exception: Value) -> bool {
        let is_waiting = self
            .core
            .state()
            .interrupt(fiber.as_raw(), exception.as_raw());
        self.core.notify();
        is_waiting
    }

    /// Begins a timeout of the calling fiber, or of another: `(seconds, exception, message, fiber)`. Returns the number
    /// for `disarm_timeout`.
    fn arm_timeout(&self, args: &[Value]) -> Result<u64, Error> {
        let args = scan_args::<(Value, Value, Value), (Option<Value>,), (), (), (), ()>(args)?;
        let (seconds, exception, message) = args.required;
        let limit = limit(seconds)?.unwrap_or(Duration::MAX);
        let timeout = Timeout {
            fiber: args
                .optional
                .0
                .map_or_else(core::current, AsRawValue::as_raw),
            exception: exception.as_raw(),
            message: message.as_raw(),
            deadline: Instant::now() + limit.min(LONGEST),
            is_due: false,
        };
        Ok(self.core.state().add_timeout(timeout))
    }

    /// The longest run of a fiber without a wait, in seconds. Any thread may call it.
    fn longest_run(&self) -> f64 {
        self.core.runs.longest().as_secs_f64()
    }

    /// How many fibers run next because another fiber or thread has unblocked them.
    fn woken(&self) -> usize {
        self.core.state().woken()
    }

    /// Ends the run of the calling fiber and begins another. Reports the run if it was too long.
    fn end_run(scheduler: Obj<Scheduler>) -> Result<(), Error> {
        let fiber = core::current();
        let Some(run) = scheduler.core.runs.split(fiber) else {
            return Ok(());
        };
        // SAFETY: this is the fiber that runs.
        let fiber = unsafe { Value::from_raw(fiber) };
        let seconds = run.as_secs_f64();
        scheduler.funcall::<_, _, Value>("report_long_run", (fiber, seconds))?;
        Ok(())
    }

    /// Calls `report_long_runs` when runs have taken more than `seconds`.
    fn limit_runs(scheduler: Obj<Scheduler>, seconds: Value) -> Result<(), Error> {
        let limit = limit(seconds)?.unwrap_or(Duration::MAX);
        let watcher = scheduler.as_value().as_raw();
        scheduler.core.runs.watch(limit, watcher);
        Ok(())
    }

    /// The fiber and the seconds of the next run that was too long, for the fiber that reports them.
    fn next_long_run(&self) -> Option<(Value, f64)> {
        let (fiber, run) = self.core.runs.next_unreported(core::current())?;
        // SAFETY: it was marked until now, and this call's stack keeps it.
        Some((unsafe { Value::from_raw(fiber) }, run.as_secs_f64()))
    }

    /// Ends a timeout.
    fn disarm_timeout(&self, number: u64) {
        self.core.state().remove_timeout(number);
    }
}

/// Does the same as `limit`, and refuses the values that Ruby itself would refuse.
fn interval(ruby: &Ruby, seconds: Value) -> Result<Option<Duration>, Error> {
    // Most waits have no limit, and converting nil costs an exception.
    if !seconds.is_nil() {
        let number = f64::try_convert(seconds)?;
        if number < 0.0 {
            let message = "time interval must not be negative";
            return Err(Error::new(ruby.exception_arg_error(), message));
        }
        if number.is_nan() {
            let message = "NaN out of Time range";
            return Err(Error::new(ruby.exception_range_error(), message));
        }
    }
    limit(seconds)
}

/// Seconds as a duration; `None` for nil, and for more than a duration can hold.
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
