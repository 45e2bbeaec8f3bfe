//! How long fibers run without giving way: a stretch begins when control is handed to a fiber, and ends when the fiber
//! waits or ends. The clock is read once for each, and timers use the same reading.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use rb_sys::VALUE;

use super::core::NOBODY;

/// Most stretches that wait to be reported; later ones are only counted by `longest`.
const UNREPORTED_LIMIT: usize = 64;

/// The stretches of one thread's fibers.
pub(crate) struct Stretches {
    now: Cell<Instant>,
    /// When control was handed to the fiber that runs; `None` while the loop itself does.
    began: Cell<Option<Instant>>,
    longest: Cell<Duration>,
    limit: Cell<Duration>,
    unreported: RefCell<VecDeque<(VALUE, Duration)>>,
    /// The scheduler's object, which is called when there is something to report.
    watcher: Cell<VALUE>,
    /// The fiber that reports or did so last, whose own stretches are nobody's concern.
    reporter: Cell<VALUE>,
}

impl Default for Stretches {
    fn default() -> Self {
        Stretches {
            now: Cell::new(Instant::now()),
            began: Cell::new(None),
            longest: Cell::new(Duration::ZERO),
            limit: Cell::new(Duration::MAX),
            unreported: RefCell::default(),
            watcher: Cell::new(NOBODY),
            reporter: Cell::new(NOBODY),
        }
    }
}

impl Stretches {
    /// Reads the clock.
    pub(crate) fn read(&self) -> Instant {
        let now = Instant::now();
        self.now.set(now);
        now
    }

    /// What the clock said when it was read last.
    pub(crate) fn now(&self) -> Instant {
        self.now.get()
    }

    /// Control has been handed to a fiber.
    pub(crate) fn begin(&self) {
        self.began.set(Some(self.now.get()));
    }

    /// Control has been handed to the loop.
    pub(crate) fn rest(&self) {
        self.began.set(None);
    }

    /// The fiber gives way.
    pub(crate) fn end(&self, fiber: VALUE) {
        let Some(stretch) = self.measure() else {
            return;
        };
        self.rest();
        let mut unreported = self.unreported.borrow_mut();
        if self.is_too_long(fiber, stretch) && unreported.len() < UNREPORTED_LIMIT {
            unreported.push_back((fiber, stretch));
        }
    }

    /// Ends the running fiber's stretch and begins another; returns it if it was too long.
    pub(crate) fn close(&self, fiber: VALUE) -> Option<Duration> {
        self.read();
        let stretch = self.measure()?;
        self.begin();
        self.is_too_long(fiber, stretch).then_some(stretch)
    }

    fn measure(&self) -> Option<Duration> {
        let stretch = self.now.get().duration_since(self.began.get()?);
        self.longest.set(self.longest.get().max(stretch));
        Some(stretch)
    }

    fn is_too_long(&self, fiber: VALUE, stretch: Duration) -> bool {
        stretch > self.limit.get() && fiber != self.reporter.get()
    }

    /// The longest so far, the one that runs included; any thread may ask.
    pub(crate) fn longest(&self) -> Duration {
        let running = self.began.get().map(|began| began.elapsed());
        self.longest.get().max(running.unwrap_or_default())
    }

    /// Has `watcher` called when stretches are longer than `limit`.
    pub(crate) fn watch(&self, limit: Duration, watcher: VALUE) {
        self.limit.set(limit);
        self.watcher.set(watcher);
    }

    /// What is to be called, if there is something to report.
    pub(crate) fn watcher(&self) -> Option<VALUE> {
        (!self.unreported.borrow().is_empty()).then(|| self.watcher.get())
    }

    pub(crate) fn reporter(&self) -> VALUE {
        self.reporter.get()
    }

    /// Hands out the next stretch to the fiber that reports.
    pub(crate) fn next_unreported(&self, reporter: VALUE) -> Option<(VALUE, Duration)> {
        self.reporter.set(reporter);
        self.unreported.borrow_mut().pop_front()
    }

    /// In a forked process: what the parent has measured is the parent's.
    pub(crate) fn start_over(&self) {
        self.unreported.borrow_mut().clear();
        self.reporter.set(NOBODY);
        self.longest.set(Duration::ZERO);
    }

    /// Every Ruby object that is known here.
    pub(crate) fn each_object(&self, mut see: impl FnMut(VALUE)) {
        see(self.watcher.get());
        see(self.reporter.get());
        for (fiber, _) in self.unreported.borrow().iter() {
            see(*fiber);
        }
    }
}
