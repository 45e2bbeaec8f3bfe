//! Deadlines of all connections, looked through once a tick.
//!
//! A timer of its own for each of ten thousand connections would cost each of them a hundred bytes
//! and every request two changes of the timer wheel. A dense list that is read ten times a second
//! costs four bytes a connection and no time at all on a request's way.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;
use std::time::{Duration, Instant};

/// How often deadlines are looked at, and how exact they are.
pub(crate) const TICK: Duration = Duration::from_millis(100);

const NEVER: u32 = u32::MAX;

/// The deadlines, and the time in ticks since the board was made.
#[derive(Debug)]
pub(crate) struct Board {
    start: Instant,
    now: Cell<u32>,
    entries: RefCell<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    deadlines: Vec<u32>,
    wakers: Vec<Option<Waker>>,
    free: Vec<usize>,
}

/// One deadline on the board; dropping it takes it off.
#[derive(Debug)]
pub(crate) struct Deadline {
    board: Rc<Board>,
    place: usize,
}

impl Board {
    pub(crate) fn new() -> Rc<Board> {
        Rc::new(Board {
            start: Instant::now(),
            now: Cell::new(0),
            entries: RefCell::default(),
        })
    }

    /// The time of the last tick.
    pub(crate) fn now(&self) -> u32 {
        self.now.get()
    }

    /// Wakes those whose deadline has passed. Called once a tick.
    pub(crate) fn tick(&self) {
        let ticks = self.start.elapsed().as_millis() / TICK.as_millis();
        self.now.set(u32::try_from(ticks).unwrap_or(NEVER - 1));
        let mut entries = self.entries.borrow_mut();
        let Entries {
            deadlines, wakers, ..
        } = &mut *entries;
        for (deadline, waker) in deadlines.iter().zip(wakers) {
            if *deadline <= self.now.get() {
                if let Some(waker) = waker.take() {
                    waker.wake();
                }
            }
        }
    }

    /// Wakes everybody, deadline or not: the server drains.
    pub(crate) fn wake_all(&self) {
        let wakers: Vec<_> = self
            .entries
            .borrow_mut()
            .wakers
            .iter_mut()
            .filter_map(Option::take)
            .collect();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Puts a new deadline on the board, set to never.
    pub(crate) fn deadline(self: &Rc<Self>) -> Deadline {
        let mut entries = self.entries.borrow_mut();
        let place = entries.free.pop().unwrap_or_else(|| {
            entries.deadlines.push(NEVER);
            entries.wakers.push(None);
            entries.deadlines.len() - 1
        });
        Deadline {
            board: Rc::clone(self),
            place,
        }
    }
}

/// How many whole ticks a duration lasts, at least one.
fn ticks(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis().div_ceil(TICK.as_millis()))
        .unwrap_or(NEVER - 1)
        .max(1)
}

impl Deadline {
    /// Sets the deadline this far from now. The tick that is under way does not count: a deadline
    /// is never early.
    pub(crate) fn set(&self, after: Duration) {
        let whole = ticks(after).saturating_add(1);
        let at = self.board.now().saturating_add(whole).min(NEVER - 1);
        self.board.entries.borrow_mut().deadlines[self.place] = at;
    }

    /// Takes the deadline back.
    pub(crate) fn clear(&self) {
        self.board.entries.borrow_mut().deadlines[self.place] = NEVER;
    }

    /// Whether it has passed; if not, `waker` is woken when it does.
    pub(crate) fn passed(&self, waker: &Waker) -> bool {
        let mut entries = self.board.entries.borrow_mut();
        if entries.deadlines[self.place] <= self.board.now() {
            return true;
        }
        match &mut entries.wakers[self.place] {
            Some(known) => known.clone_from(waker),
            empty => *empty = Some(waker.clone()),
        }
        false
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        let mut entries = self.board.entries.borrow_mut();
        entries.deadlines[self.place] = NEVER;
        entries.wakers[self.place] = None;
        entries.free.push(self.place);
    }
}
