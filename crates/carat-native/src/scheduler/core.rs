//! How control passes from fiber to fiber.
//!
//! A fiber that waits transfers control to the next fiber that may run or, when there is none, to *home*: the fiber
//! that runs the loop. Control always passes by `Fiber#transfer`, so a fiber that another one has resumed, such as an
//! Enumerator's, may wait too. (Before Ruby 3.3, that blocks its thread.) A fiber that waits while none runs the loop
//! runs it until its own wait ends.

mod cancellation;
mod event_loop;
mod exceptions;
mod interrupts;
mod refusals;

use std::cell::{Cell, RefCell, RefMut};

use carat_fibers::{RunClock, SchedulerState, WaitId, WaitOutcome, WaitRequest};
use magnus::rb_sys::FromRawValue;
use magnus::{Error, Ruby, Value, gc};
use rb_sys::{VALUE, rb_fiber_current};

pub(crate) use self::exceptions::check_interrupts;
use self::exceptions::raised;
use self::refusals::Refusals;
use super::epoll::Epoll;
use super::error;
use super::event_batch::EventBatch;
use crate::interpreter::fork;

/// No fiber, or no thread: a value that no object has.
pub(crate) const NOBODY: VALUE = 0;

/// The state of the scheduler of one thread.
pub(crate) type State = SchedulerState<VALUE, Epoll>;

/// The state of a scheduler. Only threads that hold the GVL use it, and no borrow of `state` outlives a call into Ruby.
#[derive(Default)]
pub(crate) struct Core {
    state: RefCell<State>,
    generation: Cell<u32>,
    owner: Cell<VALUE>,
    home: Cell<VALUE>,
    /// The fiber that was given control last.
    running: Cell<VALUE>,
    is_asleep: Cell<bool>,
    /// Whether one of the fibers forked this process. That fiber may end the process, and then waits for all others.
    is_forked: Cell<bool>,
    batch: Cell<EventBatch>,
    pub(crate) runs: RunClock<VALUE>,
    is_cancelled: Cell<bool>,
    refusals: RefCell<Refusals>,
}

impl Core {
    /// The core of this process. A forked process starts it over.
    pub(crate) fn new() -> Self {
        Core {
            generation: Cell::new(fork::generation()),
            ..Core::default()
        }
    }

    /// The state. In a forked process it does not contain what belongs to the parent.
    pub(crate) fn state(&self) -> RefMut<'_, State> {
        if self.generation.get() != fork::generation() {
            self.start_over();
        }
        self.state.borrow_mut()
    }

    /// The parent's loop continues in the child, because fibers that end return to it. It finds only waits that begin
    /// in the child.
    fn start_over(&self) {
        // Asking for the current fiber may make an object, and so mark `state`: it is done before the borrow.
        let me = current();
        self.state.borrow_mut().start_over(me);
        self.runs.start_over();
        self.generation.set(fork::generation());
        self.is_asleep.set(false);
        self.is_forked.set(true);
    }

    /// Whether the loop, in another fiber, has given control to the calling fiber, which then cannot end the loop.
    pub(crate) fn is_nested(&self) -> bool {
        self.is_run_by_other() && !self.is_forked.get()
    }

    /// Whether another fiber runs the loop.
    fn is_run_by_other(&self) -> bool {
        drop(self.state());
        let home = self.home.get();
        home != NOBODY && home != current()
    }

    /// Suspends the calling fiber until its wait ends.
    pub(crate) fn wait(
        &self,
        ruby: &Ruby,
        request: &WaitRequest<'_>,
    ) -> Result<WaitOutcome<VALUE>, Error> {
        self.admit(ruby)?;
        let me = current();
        if let Some(number) = self.take_due(me) {
            return Err(self.expired(number));
        }
        let wait_id = self.enter(ruby, me, request)?;
        let passed = self.give_way(ruby, me, wait_id);
        let outcome = self.state().leave(wait_id);
        passed?;
        match outcome {
            Some(WaitOutcome::Expired(number)) => Err(self.expired(number)),
            Some(WaitOutcome::Raised(exception)) => Err(raised(exception)),
            Some(WaitOutcome::Closed) => Err(error::closed(ruby)),
            Some(WaitOutcome::Cancelled) | None => Err(error::cancelled(ruby)),
            Some(outcome) => Ok(outcome),
        }
    }

    /// Starts a fiber, or wakes one that blocks. Returns when that fiber waits or ends.
    pub(crate) fn start(&self, ruby: &Ruby, fiber: VALUE) -> Result<(), Error> {
        self.admit(ruby)?;
        self.state().rouse(fiber);
        let me = current();
        if self.is_run_by_other() {
            let pause = WaitRequest {
                is_yield: true,
                ..WaitRequest::default()
            };
            let wait_id = self.enter(ruby, me, &pause)?;
            let passed = self.switch(me, fiber);
            self.state().leave(wait_id);
            return passed;
        }
        self.runs.read();
        let before = self.home.replace(me);
        let passed = self.switch(me, fiber);
        self.home.set(before);
        passed
    }

    /// Begins a wait, which ends the run of the fiber.
    fn enter(&self, ruby: &Ruby, me: VALUE, request: &WaitRequest<'_>) -> Result<WaitId, Error> {
        let now = self.runs.read();
        let entered = self.state().enter(me, request, now);
        self.runs.end(me);
        entered.map_err(|errno| error::system_call(ruby, errno))
    }

    /// Runs the loop until no fiber waits.
    pub(crate) fn run(&self, ruby: &Ruby) -> Result<(), Error> {
        self.own(ruby)?;
        self.runs.read();
        if self.is_run_by_other() {
            let me = current();
            self.runs.end(me);
            let wait_id = self.state().enter_last(me);
            let passed = self.give_way(ruby, me, wait_id);
            self.state().leave(wait_id);
            return passed;
        }
        self.run_until(ruby, State::is_over)
    }

    /// Wakes the loop after a change that it may not have seen. Any thread may call it.
    pub(crate) fn notify(&self) {
        if self.is_asleep.replace(false) {
            self.state().notify();
        }
    }

    /// Lets other fibers run until this wait has ended.
    fn give_way(&self, ruby: &Ruby, me: VALUE, wait_id: WaitId) -> Result<(), Error> {
        loop {
            let home = self.home.get();
            if home == NOBODY || home == me {
                self.run_until(ruby, |state| state.is_woken(wait_id))?;
                self.runs.begin();
            } else if let Some(next) = self.next_in_line() {
                if next == me {
                    return Ok(());
                }
                self.switch(me, next)?;
            } else {
                self.switch(me, home)?;
            }
            if self.state().is_woken(wait_id) {
                return Ok(());
            }
        }
    }

    /// Marks every Ruby object that the core refers to, and pins it.
    pub(crate) fn mark(&self, marker: &gc::Marker) {
        let mark = |object: VALUE| {
            if object != NOBODY {
                // SAFETY: it has been marked since it was stored here.
                marker.mark(unsafe { Value::from_raw(object) });
            }
        };
        for cell in [&self.owner, &self.home, &self.running] {
            mark(cell.get());
        }
        self.runs.each_handle(mark);
        // A panic here aborts the process: unmarked objects would be freed while fibers use them.
        let state = self.state.try_borrow();
        let state = state.expect("no borrow of the state outlives a call into Ruby");
        state.each_handle(mark);
    }
}

/// The running fiber.
pub(crate) fn current() -> VALUE {
    // SAFETY: this thread holds the GVL.
    unsafe { rb_fiber_current() }
}
