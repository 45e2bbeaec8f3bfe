//! The reader of a lane's socket when several slots wait for what arrives: one of them reads, and wakes
//! the waiters for which it has read something. A lane with one slot has nobody to wake.

use std::cell::{Cell, RefCell};

use carat_lane::{WaitFor, Waiters};
use magnus::rb_sys::AsRawValue;
use magnus::value::{Opaque, ReprValue};
use magnus::{Class, Error, Ruby, Value, gc};

use crate::interpreter::roots;

/// A `Thread::Queue` that wakes the slot that waits at it.
type Waiter = Opaque<Value>;

/// The role of the slot that reads the socket of a lane.
#[derive(Default)]
pub(crate) struct ReaderRole {
    is_read: Cell<bool>,
    /// Whether a waiter has been woken to read, and has not run yet.
    is_promised: Cell<bool>,
    waiters: RefCell<Waiters<Waiter>>,
    /// Queues at which nobody waits. Making one runs Ruby, and then other threads may run.
    spare: RefCell<Vec<Waiter>>,
}

impl ReaderRole {
    /// Whether a slot waits for the socket.
    pub(crate) fn is_read(&self) -> bool {
        self.is_read.get()
    }

    /// Whether a waiter has been woken to read.
    pub(crate) fn is_promised(&self) -> bool {
        self.is_promised.get()
    }

    /// How many wait for a request, without the reader.
    pub(crate) fn idle(&self) -> usize {
        self.waiters.borrow().idle()
    }

    /// Waits for the socket with `read`, or until its reader has read something.
    pub(crate) fn wait(
        &self,
        ruby: &Ruby,
        wanted: WaitFor,
        read: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.is_read.get() {
            return self.wait_for_others(ruby, wanted);
        }
        self.is_read.set(true);
        let ready = read();
        self.is_read.set(false);
        ready
    }

    /// Waits until another slot wakes this one. Returns at once when a queue had to be made: what is
    /// `wanted` may have arrived meanwhile.
    pub(crate) fn wait_for_others(&self, ruby: &Ruby, wanted: WaitFor) -> Result<(), Error> {
        let Some(waiter) = self.spare.borrow_mut().pop() else {
            let waiter: Value = roots().queue(ruby).new_instance(())?;
            self.spare.borrow_mut().push(waiter.into());
            return Ok(());
        };
        self.waiters.borrow_mut().add(wanted, waiter);
        let queue = ruby.get_inner(waiter);
        let woken = queue.funcall::<_, _, Value>("pop", ());
        let is_it = |other: &Waiter| ruby.get_inner(*other).as_raw() == queue.as_raw();
        if !self.waiters.borrow_mut().remove(wanted, is_it) {
            self.is_promised.set(false);
        }
        // The queue of an interrupted waiter may hold a wake-up, so it is not used again.
        woken.map(|_| self.spare.borrow_mut().push(waiter))
    }

    /// Wakes the waiters for which something has arrived: for the requests in `updated`, and for a request that
    /// nobody has taken yet. Returns whether there were any: then other threads may have run.
    pub(crate) fn announce(
        &self,
        ruby: &Ruby,
        updated: &[u32],
        has_request: bool,
    ) -> Result<bool, Error> {
        let mut has_woken = false;
        for id in updated {
            let waiters = self.waiters.borrow_mut().take_updated(*id);
            for waiter in waiters {
                wake(ruby, waiter)?;
                has_woken = true;
            }
        }
        if has_request && !self.is_promised.get() {
            let taker = self.waiters.borrow_mut().take_taker();
            has_woken |= taker.is_some();
            self.promise(ruby, taker)?;
        }
        Ok(has_woken)
    }

    /// Hands the reader role to a waiter, or opens a new slot when the lane `may_open` one.
    pub(crate) fn pass_on(&self, ruby: &Ruby, may_open: bool) -> Result<(), Error> {
        if self.is_read.get() || self.is_promised.get() {
            return Ok(());
        }
        let next = self.waiters.borrow_mut().take_reader(may_open);
        self.promise(ruby, next)
    }

    fn promise(&self, ruby: &Ruby, waiter: Option<Waiter>) -> Result<(), Error> {
        let Some(waiter) = waiter else {
            return Ok(());
        };
        self.is_promised.set(true);
        wake(ruby, waiter)
    }

    pub(crate) fn mark(&self, marker: &gc::Marker) {
        let waiters = self.waiters.borrow();
        let spare = self.spare.borrow();
        for waiter in waiters.iter().chain(&*spare) {
            marker.mark(*waiter);
        }
    }
}

fn wake(ruby: &Ruby, waiter: Waiter) -> Result<(), Error> {
    ruby.get_inner(waiter)
        .funcall::<_, _, Value>("push", (true,))?;
    Ok(())
}
