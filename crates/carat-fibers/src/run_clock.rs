//! How long fibers run without a wait. A run begins when a fiber gets control, and ends when it waits or ends. The clock
//! is read once for each run, and timers use the same reading.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::handle::Handle;

/// The most runs that wait to be reported; further ones only count for `longest`.
const UNREPORTED_LIMIT: usize = 64;

/// Measures the runs of one thread's fibers.
pub struct RunClock<H> {
    now: Cell<Instant>,
    /// When the running fiber got control; `None` while the loop has it.
    began: Cell<Option<Instant>>,
    longest: Cell<Duration>,
    limit: Cell<Duration>,
    unreported: RefCell<VecDeque<(H, Duration)>>,
    /// The scheduler of the fibers, which is told when runs wait to be reported, and then starts the reporter.
    watcher: Cell<Option<H>>,
    /// The fiber that reports long runs. Its own runs are not reported.
    reporter: Cell<Option<H>>,
}

impl<H> Default for RunClock<H> {
    fn default() -> Self {
        RunClock {
            now: Cell::new(Instant::now()),
            began: Cell::new(None),
            longest: Cell::new(Duration::ZERO),
            limit: Cell::new(Duration::MAX),
            unreported: RefCell::default(),
            watcher: Cell::new(None),
            reporter: Cell::new(None),
        }
    }
}

impl<H: Handle> RunClock<H> {
    /// Reads the clock.
    pub fn read(&self) -> Instant {
        let now = Instant::now();
        self.now.set(now);
        now
    }

    /// The last reading.
    pub fn now(&self) -> Instant {
        self.now.get()
    }

    /// A fiber gets control.
    pub fn begin(&self) {
        self.began.set(Some(self.now.get()));
    }

    /// The loop gets control.
    pub fn rest(&self) {
        self.began.set(None);
    }

    /// The running fiber waits or ends.
    pub fn end(&self, fiber: H) {
        let Some(run) = self.measure() else {
            return;
        };
        self.rest();
        let mut unreported = self.unreported.borrow_mut();
        if self.is_too_long(fiber, run) && unreported.len() < UNREPORTED_LIMIT {
            unreported.push_back((fiber, run));
        }
    }

    /// Ends the run of the running fiber and begins another. Returns its length if it was too long.
    pub fn split(&self, fiber: H) -> Option<Duration> {
        self.read();
        let run = self.measure()?;
        self.begin();
        self.is_too_long(fiber, run).then_some(run)
    }

    fn measure(&self) -> Option<Duration> {
        let run = self.now.get().duration_since(self.began.get()?);
        self.longest.set(self.longest.get().max(run));
        Some(run)
    }

    fn is_too_long(&self, fiber: H, run: Duration) -> bool {
        run > self.limit.get() && Some(fiber) != self.reporter.get()
    }

    /// The longest run so far, the present one included.
    pub fn longest(&self) -> Duration {
        let running = self.began.get().map(|began| began.elapsed());
        self.longest.get().max(running.unwrap_or_default())
    }

    /// Makes `watcher` report runs longer than `limit`.
    pub fn watch(&self, limit: Duration, watcher: H) {
        self.limit.set(limit);
        self.watcher.set(Some(watcher));
    }

    /// The watcher, if there is something to report.
    pub fn watcher(&self) -> Option<H> {
        let is_empty = self.unreported.borrow().is_empty();
        self.watcher.get().filter(|_| !is_empty)
    }

    /// The fiber that reports, or did so last.
    pub fn reporter(&self) -> Option<H> {
        self.reporter.get()
    }

    /// Takes the next run for the fiber that reports.
    pub fn next_unreported(&self, reporter: H) -> Option<(H, Duration)> {
        self.reporter.set(Some(reporter));
        self.unreported.borrow_mut().pop_front()
    }

    /// In a forked process, forgets what the parent has measured.
    pub fn start_over(&self) {
        self.unreported.borrow_mut().clear();
        self.reporter.set(None);
        self.longest.set(Duration::ZERO);
    }

    /// Calls `see` with every handle.
    pub fn each_handle(&self, mut see: impl FnMut(H)) {
        let watchers = [self.watcher.get(), self.reporter.get()];
        watchers.into_iter().flatten().for_each(&mut see);
        for (fiber, _) in self.unreported.borrow().iter() {
            see(*fiber);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock whose fiber `a` began a run one second before the last reading.
    fn clock(limit: Duration) -> RunClock<&'static str> {
        let clock = RunClock::default();
        clock.watch(limit, "watcher");
        clock.read();
        clock.begin();
        clock.now.set(clock.now() + Duration::from_secs(1));
        clock
    }

    #[test]
    fn a_run_that_is_too_long_is_reported_with_its_fiber() {
        let clock = clock(Duration::from_millis(1));
        clock.end("a");
        assert_eq!(clock.watcher(), Some("watcher"));
        let reported = clock.next_unreported("reporter");
        assert_eq!(reported, Some(("a", Duration::from_secs(1))));
        assert_eq!(clock.watcher(), None);
        assert_eq!(clock.longest(), Duration::from_secs(1));
    }

    #[test]
    fn short_runs_and_those_of_the_reporter_are_not_reported() {
        let short = clock(Duration::from_secs(2));
        short.end("a");
        assert_eq!(short.watcher(), None);

        let reporting = clock(Duration::ZERO);
        assert_eq!(reporting.next_unreported("a"), None);
        reporting.end("a");
        assert_eq!(reporting.watcher(), None);
    }

    #[test]
    fn the_loop_itself_has_no_runs() {
        let clock = clock(Duration::ZERO);
        clock.rest();
        clock.end("a");
        assert_eq!((clock.longest(), clock.watcher()), (Duration::ZERO, None));
    }

    #[test]
    fn no_more_runs_are_kept_than_can_be_reported() {
        let clock = clock(Duration::ZERO);
        for _ in 0..UNREPORTED_LIMIT * 2 {
            clock.end("a");
            clock.begin();
            clock.now.set(clock.now() + Duration::from_secs(1));
        }
        assert_eq!(clock.unreported.borrow().len(), UNREPORTED_LIMIT);
    }

    #[test]
    fn a_forked_process_reports_nothing_of_its_parent() {
        let clock = clock(Duration::ZERO);
        clock.end("a");
        clock.start_over();
        assert_eq!((clock.watcher(), clock.reporter()), (None, None));
        assert_eq!(clock.longest(), Duration::ZERO);
    }
}
