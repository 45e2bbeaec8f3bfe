//! How control passes from fiber to fiber.
//!
//! A fiber that waits hands control to the next one that may go on or, when there is none, to *home*: the fiber that
//! runs the loop. All of it is `Fiber#transfer`, so a fiber that was resumed by another (an Enumerator's) may wait
//! too. Whoever waits while nobody runs the loop runs it until its own wait is over.

use std::cell::{Cell, RefCell, RefMut};
use std::os::fd::{AsFd, OwnedFd};
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use magnus::rb_sys::{AsRawValue, FromRawValue, protect};
use magnus::value::ReprValue;
use magnus::{Error, Exception, Module, RClass, Ruby, Value, gc};
use rb_sys::{
    VALUE, rb_fiber_alive_p, rb_fiber_current, rb_fiber_raise, rb_fiber_transfer,
    rb_thread_check_ints, rb_thread_current,
};

use super::selector::Batch;
use super::state::{State, Wish};
use super::timeouts::Timeout;
use super::waits::{Outcome, Ticket};
use crate::gvl::{self, Callback};
use crate::{error, fork};

/// No fiber, or no thread: a value that no object has.
pub(crate) const NOBODY: VALUE = 0;

/// What Ruby says when an IO is closed while a thread waits for it.
const CLOSED: &str = "stream closed in another thread";

/// A scheduler's inner life. Only threads that hold Ruby's lock come here, and no borrow of `state` outlives a call
/// into Ruby.
#[derive(Default)]
pub(crate) struct Core {
    state: RefCell<State>,
    generation: Cell<u32>,
    owner: Cell<VALUE>,
    home: Cell<VALUE>,
    /// Who was given control last.
    running: Cell<VALUE>,
    /// How many fibers of the present round are still to go on.
    round: Cell<usize>,
    is_asleep: Cell<bool>,
    /// The fiber that forked may end this process, and is then the one that waits for all others.
    is_forked: Cell<bool>,
    batch: Cell<Batch>,
    is_cancelled: Cell<bool>,
}

impl Core {
    /// The state, without what belongs to the parent of a forked process.
    pub(crate) fn state(&self) -> RefMut<'_, State> {
        if self.generation.get() != fork::generation() {
            self.start_over();
        }
        self.state.borrow_mut()
    }

    /// The parent's loop goes on in the child, for a fiber that ends returns to it, but finds only what begins there.
    fn start_over(&self) {
        // Which fiber runs is asked first: that may make an object, and so mark what `state` holds.
        let me = current();
        self.state.borrow_mut().start_over(me);
        self.generation.set(fork::generation());
        self.round.set(0);
        self.is_asleep.set(false);
        self.is_forked.set(true);
    }

    /// Whether this fiber is one of those that the loop runs, and so cannot end it.
    pub(crate) fn is_nested(&self) -> bool {
        self.is_run_by_other() && !self.is_forked.get()
    }

    /// Whether another fiber than this one runs the loop.
    fn is_run_by_other(&self) -> bool {
        drop(self.state());
        let home = self.home.get();
        home != NOBODY && home != current()
    }

    /// Suspends this fiber until its wish comes true.
    pub(crate) fn wait(&self, ruby: &Ruby, wish: &Wish<'_>) -> Result<Outcome, Error> {
        self.admit(ruby)?;
        let me = current();
        if let Some(number) = self.take_due(me) {
            return Err(self.expired(number));
        }
        let entered = self.state().enter(me, wish);
        let ticket = entered.map_err(|errno| error::system_call(ruby, errno))?;
        let passed = self.give_way(ruby, me, ticket);
        let outcome = self.state().leave(ticket);
        passed?;
        match outcome {
            Some(Outcome::Expired(number)) => Err(self.expired(number)),
            Some(Outcome::Raised(exception)) => Err(raised(exception)),
            Some(Outcome::Closed) => Err(Error::new(ruby.exception_io_error(), CLOSED)),
            Some(Outcome::Cancelled) | None => Err(error::cancelled(ruby)),
            Some(outcome) => Ok(outcome),
        }
    }

    /// Starts a fiber; returns when that waits for the first time, or ends.
    pub(crate) fn start(&self, ruby: &Ruby, fiber: VALUE) -> Result<(), Error> {
        self.admit(ruby)?;
        let me = current();
        if self.is_run_by_other() {
            let pause = Wish {
                is_pause: true,
                ..Wish::default()
            };
            let entered = self.state().enter(me, &pause);
            let ticket = entered.map_err(|errno| error::system_call(ruby, errno))?;
            let passed = self.switch(me, fiber);
            self.state().leave(ticket);
            return passed;
        }
        let before = self.home.replace(me);
        let passed = self.switch(me, fiber);
        self.home.set(before);
        passed
    }

    /// Runs the loop until nobody waits any more.
    pub(crate) fn run(&self, ruby: &Ruby) -> Result<(), Error> {
        self.own(ruby)?;
        if self.is_run_by_other() {
            let me = current();
            let ticket = self.state().enter_last(me);
            let passed = self.give_way(ruby, me, ticket);
            self.state().leave(ticket);
            return passed;
        }
        self.run_until(ruby, State::is_over)
    }

    /// Ends all waits, and those that begin from now on, with an exception; then lets the fibers end.
    pub(crate) fn cancel(&self, ruby: &Ruby) -> Result<(), Error> {
        self.is_cancelled.set(true);
        self.state().cancel();
        self.run(ruby)
    }

    /// Called when something has changed that the loop may not have seen; from any thread.
    pub(crate) fn notify(&self) {
        if self.is_asleep.replace(false) {
            self.state().ring();
        }
    }

    /// Refuses a second thread, and every wait when the scheduler has been cancelled.
    fn admit(&self, ruby: &Ruby) -> Result<(), Error> {
        self.own(ruby)?;
        if self.is_cancelled.get() {
            return Err(error::cancelled(ruby));
        }
        Ok(())
    }

    /// A scheduler belongs to the first thread that uses it.
    fn own(&self, ruby: &Ruby) -> Result<(), Error> {
        // SAFETY: this thread holds the lock.
        let thread = unsafe { rb_thread_current() };
        if self.owner.get() == NOBODY {
            self.owner.set(thread);
        }
        if self.owner.get() == thread {
            return Ok(());
        }
        Err(error::scheduler(
            ruby,
            "this scheduler belongs to another thread",
        ))
    }

    /// Lets others run until this wait is over.
    fn give_way(&self, ruby: &Ruby, me: VALUE, ticket: Ticket) -> Result<(), Error> {
        loop {
            let home = self.home.get();
            if home == NOBODY || home == me {
                self.run_until(ruby, |state| state.is_woken(ticket))?;
            } else if let Some(next) = self.next_of_round() {
                if next == me {
                    return Ok(());
                }
                self.switch(me, next)?;
            } else {
                self.switch(me, home)?;
            }
            if self.state().is_woken(ticket) {
                return Ok(());
            }
        }
    }

    /// Transfers control; returns when it comes back. When it comes back by another way than ours, the fiber that
    /// gave it (by `Fiber#raise`, or `Fiber#kill`) would never go on: it is put into the queue.
    fn switch(&self, me: VALUE, target: VALUE) -> Result<(), Error> {
        self.running.set(target);
        // SAFETY: `target` is a fiber that is marked, and `protect` catches what is raised.
        let passed = protect(|| unsafe { rb_fiber_transfer(target, 0, ptr::null()) });
        let last = self.running.replace(me);
        let home = self.home.get();
        if last != me && me != home && last != home && is_alive(last) {
            self.state().strand(last);
        }
        passed.map(|_| ())
    }

    /// Runs the loop in this fiber.
    fn run_until(&self, ruby: &Ruby, is_done: impl Fn(&State) -> bool) -> Result<(), Error> {
        let me = current();
        let before = self.home.get();
        let mut passed = Ok(());
        while passed.is_ok() && !is_done(&self.state()) {
            self.home.set(me);
            self.state().wake_last();
            passed = self.turn(ruby, me);
        }
        self.home.set(before);
        passed
    }

    /// Sees what has happened, and lets each fiber that may go on do so once.
    fn turn(&self, ruby: &Ruby, me: VALUE) -> Result<(), Error> {
        self.look(ruby)?;
        let elsewhere = self.state().expire();
        for number in elsewhere {
            self.interrupt_elsewhere(ruby, number)?;
        }
        let ready = self.state().ready_count();
        self.round.set(ready);
        while let Some(next) = self.next_of_round() {
            if next == me {
                return Ok(());
            }
            self.switch(me, next)?;
        }
        Ok(())
    }

    /// The next fiber of this round. Who became ready after the round began has to wait for the next one, so that
    /// descriptors and timers are looked at in between.
    fn next_of_round(&self) -> Option<VALUE> {
        while self.round.get() > 0 {
            let before = self.state().ready_count();
            let (fiber, is_waiting) = self.state().pop()?;
            let taken = before - self.state().ready_count();
            self.round.set(self.round.get().saturating_sub(taken));
            if is_waiting || is_alive(fiber) {
                return Some(fiber);
            }
        }
        None
    }

    /// Asks the kernel what has happened, and sleeps if nothing has and nobody may go on. The first question keeps
    /// Ruby's lock: giving that away costs many times the system call.
    fn look(&self, ruby: &Ruby) -> Result<(), Error> {
        let is_busy = self.state().ready_count() > 0;
        let mut batch = self.batch.take();
        batch.clear();
        if !self.state().watches_nothing() {
            let (epoll, _) = self.descriptors(ruby)?;
            batch.fill(epoll.as_fd(), Some(Duration::ZERO));
        }
        let limit = self.state().next_in();
        let is_idle = !is_busy && batch.is_empty() && limit != Some(Duration::ZERO);
        if is_idle {
            let (epoll, bell) = self.descriptors(ruby)?;
            self.is_asleep.set(true);
            gvl::leave(&Callback::Bell(bell.as_fd()), || {
                batch.fill(epoll.as_fd(), limit);
            });
            self.is_asleep.set(false);
        }
        // Each event is told once: those that came with a signal have to be kept before that is raised.
        self.state().deal(&batch);
        self.batch.set(batch);
        if is_idle { check_interrupts() } else { Ok(()) }
    }

    fn descriptors(&self, ruby: &Ruby) -> Result<(Arc<OwnedFd>, Arc<OwnedFd>), Error> {
        let opened = self
            .state()
            .selector()
            .map(|selector| selector.descriptors());
        opened.map_err(|errno| error::system_call(ruby, errno))
    }

    /// Raises in a fiber that does not wait here, for instance because it has resumed another one that does. Ruby
    /// finds that one from 3.3 on; before, the exception has to be kept until the fiber itself waits.
    fn interrupt_elsewhere(&self, ruby: &Ruby, number: u64) -> Result<(), Error> {
        let Some(timeout) = self.state().timeouts().get(number) else {
            return Ok(());
        };
        let exception = exception_of(&timeout)?;
        self.running.set(self.home.get());
        // SAFETY: both are live objects, and `protect` catches what is raised.
        let passed = protect(|| unsafe { rb_fiber_raise(timeout.fiber, 1, &raw const exception) });
        match passed {
            Err(error) if error.is_kind_of(fiber_error(ruby)) => {
                self.state().timeouts().postpone(number);
                Ok(())
            }
            passed => passed.map(|_| ()),
        }
    }

    fn take_due(&self, fiber: VALUE) -> Option<u64> {
        self.state().timeouts().take_due(fiber)
    }

    fn expired(&self, number: u64) -> Error {
        let timeout = self.state().timeouts().get(number);
        let exception = timeout.map_or(Ok(NOBODY), |timeout| exception_of(&timeout));
        exception.map_or_else(|error| error, raised)
    }

    /// Marks every Ruby object that is known here, and keeps it where it is.
    pub(crate) fn mark(&self, marker: &gc::Marker) {
        let mark = |object: VALUE| {
            if object != NOBODY {
                // SAFETY: it was marked ever since it came here.
                marker.mark(unsafe { Value::from_raw(object) });
            }
        };
        for cell in [&self.owner, &self.home, &self.running] {
            mark(cell.get());
        }
        self.state.borrow().each_object(mark);
    }
}

/// The fiber that runs.
pub(crate) fn current() -> VALUE {
    // SAFETY: this thread holds the lock.
    unsafe { rb_fiber_current() }
}

fn is_alive(fiber: VALUE) -> bool {
    // SAFETY: `fiber` is marked, and this thread holds the lock.
    fiber != NOBODY && unsafe { rb_fiber_alive_p(fiber) } == rb_sys::Qtrue.into()
}

fn fiber_error(ruby: &Ruby) -> RClass {
    let found = ruby.class_object().const_get("FiberError");
    found.unwrap_or_else(|_| ruby.class_object())
}

/// Raises what other threads and signals want raised here.
pub(crate) fn check_interrupts() -> Result<(), Error> {
    protect(|| {
        // SAFETY: `protect` catches what is raised.
        unsafe { rb_thread_check_ints() };
        rb_sys::Qnil.into()
    })
    .map(|_| ())
}

/// The exception that ends a block which took too long.
fn exception_of(timeout: &Timeout) -> Result<VALUE, Error> {
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

/// An object as an error, if it is an exception at all.
fn raised(object: VALUE) -> Error {
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
