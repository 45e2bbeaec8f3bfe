//! Deadlines of all connections, checked once a tick.
//!
//! A timer for each of ten thousand connections takes a hundred bytes per connection, and two updates of the timer
//! wheel per request. A dense list that is scanned ten times a second takes 20 bytes per connection and nothing per
//! request.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;
use std::time::{Duration, Instant};

use carat_exchange::clock;

/// How often deadlines are checked, and thus their resolution.
pub const TICK: Duration = Duration::from_millis(100);

/// A tick that comes later than this means that the process stood still: the machine was paused, the
/// container frozen, or the process stopped.
const LATE: Duration = Duration::from_secs(1);

const NEVER: u32 = u32::MAX;

/// The deadlines of all connections, in ticks since the start.
pub struct Deadlines {
    start: Instant,
    last_tick: Cell<Instant>,
    /// How long the process has stood still in total.
    lost: Cell<Duration>,
    /// Whether the process stood still since the last tick.
    was_frozen: Cell<bool>,
    now: Cell<u32>,
    entries: RefCell<DeadlineEntries>,
}

#[derive(Default)]
struct DeadlineEntries {
    deadlines: Vec<u32>,
    wakers: Vec<Option<Waker>>,
    free: Vec<usize>,
}

/// The deadline of one connection. Dropping it removes it from the list.
pub struct Deadline {
    deadlines: Rc<Deadlines>,
    index: usize,
}

impl Deadlines {
    /// Deadlines of which none has passed.
    pub fn new() -> Rc<Deadlines> {
        let start = clock::now();
        Rc::new(Deadlines {
            start,
            last_tick: Cell::new(start),
            lost: Cell::default(),
            was_frozen: Cell::default(),
            now: Cell::new(0),
            entries: RefCell::default(),
        })
    }

    /// The time of the last tick, in ticks since the start.
    pub fn now(&self) -> u32 {
        self.now.get()
    }

    /// The time on a clock that stops while the process stands still.
    fn time(&self) -> Instant {
        let now = clock::now();
        let since_last = now.saturating_duration_since(self.last_tick.get());
        // The process may have stood still, and no tick has noticed it yet.
        let frozen = Some(since_last).filter(|since| *since > LATE);
        let lost = self.lost.get() + frozen.unwrap_or_default();
        now.checked_sub(lost).unwrap_or(self.start)
    }

    /// Returns how long the process stood still, once after it did. That time counts against no deadline, because
    /// clients may have sent their bytes in time.
    pub(crate) fn take_freeze(&self, now: Instant) -> Option<Duration> {
        let since_last = now.saturating_duration_since(self.last_tick.get());
        if since_last <= LATE {
            return None;
        }
        self.last_tick.set(now);
        self.lost.set(self.lost.get() + since_last);
        self.was_frozen.set(true);
        Some(since_last)
    }

    /// Wakes the tasks whose deadline has passed. Called once a tick. Returns whether the process stood still since the
    /// last one.
    pub(crate) fn tick(&self, now: Instant) -> bool {
        self.last_tick.set(now);
        let ticks = (now - self.start)
            .saturating_sub(self.lost.get())
            .as_millis()
            / TICK.as_millis();
        self.now.set(u32::try_from(ticks).unwrap_or(NEVER - 1));
        self.wake_passed();
        self.was_frozen.take()
    }

    fn wake_passed(&self) {
        let mut entries = self.entries.borrow_mut();
        let DeadlineEntries {
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

    /// Wakes every task: the server drains.
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

    /// Adds a deadline that never passes.
    pub fn deadline(self: &Rc<Self>) -> Deadline {
        let mut entries = self.entries.borrow_mut();
        let index = entries.free.pop().unwrap_or_else(|| {
            entries.deadlines.push(NEVER);
            entries.wakers.push(None);
            entries.deadlines.len() - 1
        });
        Deadline {
            deadlines: Rc::clone(self),
            index,
        }
    }
}

/// A duration in whole ticks, rounded up, at least 1.
fn ticks(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis().div_ceil(TICK.as_millis()))
        .unwrap_or(NEVER - 1)
        .max(1)
}

impl Deadline {
    /// The time on the clock of all deadlines, which stops while the process stands still.
    pub(crate) fn time(&self) -> Instant {
        self.deadlines.time()
    }

    /// Sets the deadline this far from now. The current tick does not count, so that a deadline is
    /// never early.
    pub fn set(&self, after: Duration) {
        let whole = ticks(after).saturating_add(1);
        let at = self.deadlines.now().saturating_add(whole).min(NEVER - 1);
        self.deadlines.entries.borrow_mut().deadlines[self.index] = at;
    }

    /// Makes the deadline pass at once.
    pub fn expire(&self) {
        self.deadlines.entries.borrow_mut().deadlines[self.index] = 0;
        self.wake();
    }

    /// Wakes the task that waits for the deadline.
    pub(crate) fn wake(&self) {
        let waker = self.deadlines.entries.borrow_mut().wakers[self.index].take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Whether the deadline has passed. If not, `waker` is woken when it does.
    pub fn passed(&self, waker: &Waker) -> bool {
        let mut entries = self.deadlines.entries.borrow_mut();
        if entries.deadlines[self.index] <= self.deadlines.now() {
            return true;
        }
        match &mut entries.wakers[self.index] {
            Some(known) => known.clone_from(waker),
            empty => *empty = Some(waker.clone()),
        }
        false
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        let mut entries = self.deadlines.entries.borrow_mut();
        entries.deadlines[self.index] = NEVER;
        entries.wakers[self.index] = None;
        entries.free.push(self.index);
    }
}
