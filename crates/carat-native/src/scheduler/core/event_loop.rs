//! The loop: it polls for events, and runs the fibers that may run.

use std::os::fd::{AsFd, OwnedFd};
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use magnus::rb_sys::{FromRawValue, protect};
use magnus::value::ReprValue;
use magnus::{Error, Ruby, Value};
use rb_sys::{VALUE, rb_fiber_alive_p, rb_fiber_transfer};

use super::exceptions::check_interrupts;
use super::{Core, NOBODY, State, current};
use crate::interpreter::gvl::{self, Callback};
use crate::scheduler::error;

impl Core {
    /// Runs the loop in this fiber.
    pub(super) fn run_until(
        &self,
        ruby: &Ruby,
        is_done: impl Fn(&State) -> bool,
    ) -> Result<(), Error> {
        let me = current();
        let before = self.home.get();
        self.runs.rest();
        let mut passed = Ok(());
        loop {
            self.home.set(me);
            passed = passed.and_then(|()| self.report());
            if passed.is_err() || is_done(&self.state()) {
                break;
            }
            self.state().wake_last();
            passed = self.outlive(ruby, self.turn(ruby, me));
        }
        self.home.set(before);
        passed
    }

    /// Polls for events, and then runs each fiber that may run, once.
    fn turn(&self, ruby: &Ruby, me: VALUE) -> Result<(), Error> {
        self.look(ruby)?;
        let elsewhere = self.state().expire(self.runs.now());
        for number in elsewhere {
            self.interrupt_elsewhere(ruby, number)?;
            self.runs.read();
        }
        self.state().begin_round();
        while let Some(next) = self.next_of_round() {
            if next == me {
                return Ok(());
            }
            self.switch(me, next)?;
            self.report()?;
        }
        Ok(())
    }

    /// The next fiber of this round. A fiber that became ready after the round began runs in the next one, so that
    /// descriptors and timers are checked in between.
    pub(super) fn next_of_round(&self) -> Option<VALUE> {
        loop {
            let (fiber, is_waiting) = self.state().pop()?;
            if is_waiting || is_alive(fiber) {
                return Some(fiber);
            }
        }
    }

    /// The fiber that gets control from one that waits. `None` when there is a run to report: then the loop gets
    /// control.
    pub(super) fn next_in_line(&self) -> Option<VALUE> {
        if self.runs.watcher().is_some() {
            return None;
        }
        self.next_of_round()
    }

    /// Transfers control, and returns when it comes back. A fiber that gave control back in another way (by
    /// `Fiber#raise` or `Fiber#kill`) would never run again, so it is queued.
    pub(super) fn switch(&self, me: VALUE, target: VALUE) -> Result<(), Error> {
        self.hand_over(target);
        // SAFETY: `target` is a fiber that is marked, and `protect` catches what is raised.
        let passed = protect(|| unsafe { rb_fiber_transfer(target, 0, ptr::null()) });
        let last = self.running.get();
        if last != me {
            // The other fiber has ended, and the next run begins here. (If it has transferred control, its run was
            // measured then.)
            self.runs.read();
            self.runs.end(last);
            self.hand_over(me);
        }
        let home = self.home.get();
        if last != me && me != home && last != home && is_alive(last) {
            self.state().strand(last);
        }
        passed.map(|_| ())
    }

    fn hand_over(&self, target: VALUE) {
        self.running.set(target);
        if target == self.home.get() {
            self.runs.rest();
        } else {
            self.runs.begin();
        }
    }

    /// Reports runs that were too long, in a fiber of its own.
    fn report(&self) -> Result<(), Error> {
        let Some(watcher) = self.runs.watcher() else {
            return Ok(());
        };
        if self.is_cancelled.get() || self.runs.reporter().is_some_and(is_alive) {
            return Ok(());
        }
        // SAFETY: it is marked as long as it is the watcher.
        let watcher = unsafe { Value::from_raw(watcher) };
        watcher
            .funcall::<_, _, Value>("report_long_runs", ())
            .map(|_| ())
    }

    /// Polls the kernel, and sleeps if there is no event and no fiber may run. The first call keeps the GVL: releasing
    /// it costs many times the system call.
    fn look(&self, ruby: &Ruby) -> Result<(), Error> {
        let is_busy = self.state().is_busy();
        let mut batch = self.batch.take();
        batch.clear();
        if !self.state().watches_nothing() {
            let (epoll, _) = self.descriptors(ruby)?;
            batch.fill(epoll.as_fd(), Some(Duration::ZERO));
        }
        let limit = self.state().next_in(self.runs.now());
        let is_idle = !is_busy && batch.is_empty() && limit != Some(Duration::ZERO);
        if is_idle {
            let (epoll, waker) = self.descriptors(ruby)?;
            self.is_asleep.set(true);
            gvl::leave(&Callback::Waker(waker.as_fd()), || {
                batch.fill(epoll.as_fd(), limit);
            });
            self.is_asleep.set(false);
            self.runs.read();
        }
        // Each event is reported once: those that arrived with a signal are delivered before the signal is raised.
        self.state().deliver(batch.events());
        self.batch.set(batch);
        if is_idle { check_interrupts() } else { Ok(()) }
    }

    fn descriptors(&self, ruby: &Ruby) -> Result<(Arc<OwnedFd>, Arc<OwnedFd>), Error> {
        let opened = self
            .state()
            .selector()
            .map(|selector| selector.poller().descriptors());
        opened.map_err(|errno| error::system_call(ruby, errno))
    }
}

fn is_alive(fiber: VALUE) -> bool {
    // SAFETY: `fiber` is marked, and this thread holds the GVL.
    fiber != NOBODY && unsafe { rb_fiber_alive_p(fiber) } == rb_sys::Qtrue.into()
}
