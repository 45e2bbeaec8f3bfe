//! Who reads a lane's socket when several fibers, or threads, wait for what comes: one does, and wakes those for whom
//! it has read something. A lane of one place has nobody to wake.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use magnus::rb_sys::AsRawValue;
use magnus::value::{Opaque, ReprValue};
use magnus::{Class, Error, Ruby, Value, gc};

use crate::roots::roots;

/// What somebody waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    /// The next request.
    Request,
    /// Something about this request: its body, or room in the window of its answer.
    News(u32),
    /// That nobody is left who could take the next request.
    Vacancy,
}

/// A `Thread::Queue` through which one of them is woken, be it a fiber or a thread.
type Door = Opaque<Value>;

/// The turns of one lane.
#[derive(Default)]
pub(crate) struct Turns {
    is_read: Cell<bool>,
    /// Somebody has been woken to read and has not come yet.
    is_promised: Cell<bool>,
    waiting: RefCell<Waiting>,
    /// Doors that nobody waits behind. To make one is to run Ruby, and then other threads may.
    spare: RefCell<Vec<Door>>,
}

/// Who is not reading.
#[derive(Default)]
struct Waiting {
    /// Who came last is woken first: its stack is warm.
    takers: Vec<Door>,
    listeners: HashMap<u32, Vec<Door>>,
    suppliers: Vec<Door>,
}

impl Turns {
    /// Whether somebody waits for the socket.
    pub(crate) fn is_read(&self) -> bool {
        self.is_read.get()
    }

    /// Whether somebody has been woken to read.
    pub(crate) fn is_promised(&self) -> bool {
        self.is_promised.get()
    }

    /// How many wait for a request, beside the one who reads.
    pub(crate) fn idle(&self) -> usize {
        self.waiting.borrow().takers.len()
    }

    /// Waits with `read` for the socket, or until whoever reads it has something.
    pub(crate) fn wait(
        &self,
        ruby: &Ruby,
        want: Want,
        read: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.is_read.get() {
            return self.wait_for_others(ruby, want);
        }
        self.is_read.set(true);
        let ready = read();
        self.is_read.set(false);
        ready
    }

    /// Waits until somebody wakes this one, or returns at once when a door had to be made for it: what it waits for may
    /// have come meanwhile.
    pub(crate) fn wait_for_others(&self, ruby: &Ruby, want: Want) -> Result<(), Error> {
        let Some(door) = self.spare.borrow_mut().pop() else {
            let door: Value = roots().queue(ruby).new_instance(())?;
            self.spare.borrow_mut().push(door.into());
            return Ok(());
        };
        self.waiting.borrow_mut().at(want).push(door);
        let door = ruby.get_inner(door);
        let woken = door.funcall::<_, _, Value>("pop", ());
        if !self.waiting.borrow_mut().remove(ruby, want, door) {
            self.is_promised.set(false);
        }
        // Somebody may have opened the door of one that was interrupted.
        woken.map(|_| self.spare.borrow_mut().push(door.into()))
    }

    /// Wakes those for whom something has come: the requests in `news`, or a request that nobody has taken yet. Whether
    /// there was anybody: then other threads may have run.
    pub(crate) fn announce(
        &self,
        ruby: &Ruby,
        news: &[u32],
        has_request: bool,
    ) -> Result<bool, Error> {
        let mut has_woken = false;
        for id in news {
            let doors = self.waiting.borrow_mut().listeners.remove(id);
            for door in doors.into_iter().flatten() {
                open(ruby, door)?;
                has_woken = true;
            }
        }
        if has_request && !self.is_promised.get() {
            let taker = self.waiting.borrow_mut().taker();
            has_woken |= taker.is_some();
            self.promise(ruby, taker)?;
        }
        Ok(has_woken)
    }

    /// Has somebody else read when nobody does any more; when all who might are busy, a new place if there `may_be` one.
    pub(crate) fn pass_on(&self, ruby: &Ruby, may_be: bool) -> Result<(), Error> {
        if self.is_read.get() || self.is_promised.get() {
            return Ok(());
        }
        let next = self.waiting.borrow_mut().reader(may_be);
        self.promise(ruby, next)
    }

    fn promise(&self, ruby: &Ruby, door: Option<Door>) -> Result<(), Error> {
        let Some(door) = door else {
            return Ok(());
        };
        self.is_promised.set(true);
        open(ruby, door)
    }

    pub(crate) fn mark(&self, marker: &gc::Marker) {
        let waiting = self.waiting.borrow();
        let news = waiting.listeners.values().flatten();
        let spare = self.spare.borrow();
        let rest = waiting.suppliers.iter().chain(&*spare);
        for door in waiting.takers.iter().chain(news).chain(rest) {
            marker.mark(*door);
        }
    }
}

impl Waiting {
    fn at(&mut self, want: Want) -> &mut Vec<Door> {
        match want {
            Want::Request => &mut self.takers,
            Want::News(id) => self.listeners.entry(id).or_default(),
            Want::Vacancy => &mut self.suppliers,
        }
    }

    /// Who is to take the next request.
    fn taker(&mut self) -> Option<Door> {
        self.takers.pop().or_else(|| self.suppliers.pop())
    }

    /// Who is to read next. The one who waits for a vacancy does not read, but finds somebody who does.
    fn reader(&mut self, may_be: bool) -> Option<Door> {
        if let Some(door) = self.takers.pop() {
            return Some(door);
        }
        let mut news = self.listeners.values_mut();
        let news = news.find_map(Vec::pop);
        news.or_else(|| may_be.then(|| self.suppliers.pop()).flatten())
    }

    /// Whether this one was still waiting.
    fn remove(&mut self, ruby: &Ruby, want: Want, door: Value) -> bool {
        let is_other = |other: &Door| ruby.get_inner(*other).as_raw() != door.as_raw();
        let doors = self.at(want);
        let before = doors.len();
        doors.retain(is_other);
        let after = doors.len();
        match want {
            Want::News(id) if after == 0 => drop(self.listeners.remove(&id)),
            _ => {}
        }
        after < before
    }
}

/// Lets the one behind the door go on, when its turn comes.
fn open(ruby: &Ruby, door: Door) -> Result<(), Error> {
    ruby.get_inner(door)
        .funcall::<_, _, Value>("push", (true,))?;
    Ok(())
}
