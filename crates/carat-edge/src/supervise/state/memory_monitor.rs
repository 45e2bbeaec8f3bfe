use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use carat_policy::{
    EdgeReserve, MemoryApproach, MemoryBudget, MemoryTrend, OomKills, ReplacementBackoff,
    WorkerLoad, reading_pause, worker_cost,
};

use super::reaction::Reaction;
use crate::supervise::command::MemorySubjects;
use crate::supervise::event::MemoryReading;
use crate::supervise::log_line::LogLine;

/// A reading that is under way sets its own due time when it ends.
const READING: Duration = Duration::from_secs(3600);

/// What is known of the memory of all processes, and when to read it again.
#[derive(Debug)]
pub(super) struct MemoryMonitor {
    due: Instant,
    is_reading: bool,
    oom_kills: OomKills,
    edge: EdgeReserve,
    /// The processes of the reading under way, and of the last one.
    reading: BTreeSet<u32>,
    read: BTreeSet<u32>,
    /// The current mold of the reading under way, and of the last one.
    reading_mold: Option<u32>,
    read_mold: Option<u32>,
    /// Anonymous memory of the mold that forked last.
    mold_bytes: u64,
    /// How many readings end before one shows the last process that started or ended.
    hurried_readings: u8,
    /// `None` until the first reading.
    pub(super) totals: Option<MemoryTotals>,
    /// For a worker that exceeds `worker_memory`.
    pub(super) worker_backoff: ReplacementBackoff,
    /// For a single worker that exceeds the budget.
    pub(super) budget_backoff: ReplacementBackoff,
    has_warned_of_shortage: bool,
}

/// All processes together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MemoryTotals {
    pub(crate) budget: MemoryBudget,
    pub(crate) used: MemoryTrend,
}

impl MemoryMonitor {
    pub(super) fn new(now: Instant, oom_kills: u64) -> MemoryMonitor {
        MemoryMonitor {
            due: now,
            is_reading: false,
            oom_kills: OomKills::since(oom_kills),
            edge: EdgeReserve::default(),
            reading: BTreeSet::new(),
            read: BTreeSet::new(),
            reading_mold: None,
            read_mold: None,
            mold_bytes: 0,
            hurried_readings: 0,
            totals: None,
            worker_backoff: ReplacementBackoff::default(),
            budget_backoff: ReplacementBackoff::default(),
            has_warned_of_shortage: false,
        }
    }

    /// Whether memory should be read; never during a reading.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        !self.is_reading && now >= self.due
    }

    /// Whether no process started or ended since the last reading.
    pub(super) fn is_current(&self, now: Instant) -> bool {
        !self.is_reading && now < self.due
    }

    /// Whether a whole reading was made since a process last started or ended.
    pub(super) fn is_fresh(&self) -> bool {
        self.hurried_readings == 0
    }

    /// A process started or ended: memory is read as soon as possible.
    pub(super) fn hurry(&mut self, now: Instant) {
        // A reading that is under way may have begun before.
        self.hurried_readings = 1 + u8::from(self.is_reading);
        self.due = now;
    }

    /// A reading begins.
    pub(super) fn begin_reading(&mut self, subjects: &MemorySubjects) {
        let workers = subjects.workers.iter().map(|worker| worker.pid);
        let molds = subjects.others.iter().copied();
        let molds = molds.chain(subjects.mold.map(|(_, pid)| pid));
        self.reading = workers.chain(molds).collect();
        self.reading_mold = subjects.mold.map(|(_, pid)| pid);
        self.is_reading = true;
        self.due += READING;
    }

    /// Records the totals of a reading. `others`: what another server uses within the same budget.
    pub(super) fn record(&mut self, reading: &MemoryReading, others: u64, reaction: &Reaction) {
        self.oom_kills.note(reading.container.oom_kills, reading.at);
        let limits = &reaction.limits;
        let budget = MemoryBudget::new(limits.memory, &reading.container, limits.machine_memory);
        self.edge.note(&reading.edge);
        let edge = self.edge.bytes(limits.client_memory);
        let used = reading.ruby.saturating_add(others);
        let used = budget.used(used, &reading.edge, edge, &reading.container);
        let before = self.totals.map(|totals| totals.used);
        let used = MemoryTrend::after(before, used, budget.limit, reading.at);
        if !budget.is_over(used.bytes) {
            self.budget_backoff.recover(reading.at);
        }
        self.totals = Some(MemoryTotals { budget, used });
        self.mold_bytes = reading.mold.map_or(self.mold_bytes, |(_, bytes)| bytes);
    }

    /// Ends a reading. The next one is due when a worker, or the total, may reach its limit.
    pub(super) fn end_reading(
        &mut self,
        reading: &MemoryReading,
        workers: impl Iterator<Item = MemoryApproach>,
    ) {
        let total = self
            .totals
            .map(|totals| totals.used.approach(totals.budget.limit));
        let pause = reading_pause(workers.chain(total), reading.took);
        self.read = std::mem::take(&mut self.reading);
        self.read_mold = self.reading_mold.take();
        self.hurried_readings = self.hurried_readings.saturating_sub(1);
        self.is_reading = false;
        self.due = self.due.min(reading.at + reading.took + pause);
    }

    /// Whether the last reading includes this process as the current mold.
    pub(super) fn includes_mold(&self, pid: Option<u32>) -> bool {
        pid.is_some() && self.read_mold == pid
    }

    /// Whether the last reading includes this process.
    pub(super) fn includes(&self, pid: Option<u32>) -> bool {
        pid.is_some_and(|pid| self.read.contains(&pid))
    }

    /// How many more workers fit beside these: none before the first reading, any number where the kernel does not say.
    /// `is_second_mold_unread`: a second mold will take as much memory as the last known one.
    pub(super) fn room(
        &self,
        workers: &[WorkerLoad],
        mold_anonymous: Option<u64>,
        is_second_mold_unread: bool,
    ) -> u32 {
        let Some(totals) = self.totals else {
            return 0;
        };
        worker_cost(workers, mold_anonymous).map_or(u32::MAX, |cost| {
            let reserved = if is_second_mold_unread {
                self.mold_bytes
            } else {
                0
            };
            let used = totals.used.bytes.saturating_add(reserved);
            totals.budget.room(used, cost, workers)
        })
    }

    /// How many bytes are missing for a second mold, which will need as much memory as the last known one.
    pub(super) fn missing_for_mold(&self) -> u64 {
        self.totals.map_or(0, |totals| {
            let needed = totals.used.bytes.saturating_add(self.mold_bytes);
            needed.saturating_sub(totals.budget.limit)
        })
    }

    /// The total was acted upon: it takes further readings to act again.
    pub(super) fn restart_trend(&mut self) {
        if let Some(totals) = &mut self.totals {
            totals.used = totals.used.restarted();
        }
    }

    /// Whether the OOM killer explains that a process was killed, given the kernel's count at its exit.
    pub(super) fn explains_kill(&mut self, oom_kills: u64, now: Instant) -> bool {
        self.oom_kills.explains(oom_kills, now)
    }

    /// Logs once that there is no memory for the workers that are wanted.
    pub(super) fn warn_of_shortage(&mut self, workers: u32, wanted: u32, reaction: &mut Reaction) {
        let Some(totals) = self.totals.filter(|_| !self.has_warned_of_shortage) else {
            return;
        };
        self.has_warned_of_shortage = true;
        let line = LogLine::warn("no memory for more workers (memory)");
        let line = line.number("workers", workers).number("wanted", wanted);
        reaction.log(totals.describe(line));
    }

    /// All workers that are wanted run: the next shortage is logged again.
    pub(super) fn end_shortage(&mut self) {
        self.has_warned_of_shortage = false;
    }
}

impl MemoryTotals {
    /// Adds what is used, and what may be.
    pub(super) fn describe(&self, line: LogLine) -> LogLine {
        use carat_policy::ByteSize;
        line.text("used", ByteSize(self.used.bytes))
            .text("limit", ByteSize(self.budget.limit))
    }
}

#[cfg(test)]
mod tests {
    use carat_policy::{ContainerMemory, EdgeMemory};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn reading(at: Instant) -> MemoryReading {
        MemoryReading {
            at,
            took: Duration::ZERO,
            edge: EdgeMemory::default(),
            ruby: 0,
            mold: None,
            workers: Vec::new(),
            container: ContainerMemory::default(),
        }
    }

    fn no_subjects() -> MemorySubjects {
        MemorySubjects {
            mold: None,
            workers: Vec::new(),
            others: Vec::new(),
        }
    }

    #[test]
    fn one_reading_runs_at_a_time_and_the_next_after_the_pause() {
        let now = Instant::now();
        let mut monitor = MemoryMonitor::new(now, 0);
        assert!(monitor.is_due(now));
        monitor.begin_reading(&no_subjects());
        assert!(!monitor.is_due(now + SECOND));
        assert!(!monitor.is_current(now));
        monitor.end_reading(&reading(now), std::iter::empty());
        assert!(!monitor.is_due(now + SECOND));
        assert!(monitor.is_current(now + SECOND));
        assert!(monitor.is_due(now + SECOND * 5));
    }

    #[test]
    fn a_change_during_a_reading_makes_the_next_one_due_at_once() {
        let now = Instant::now();
        let mut monitor = MemoryMonitor::new(now, 0);
        monitor.begin_reading(&no_subjects());
        monitor.hurry(now);
        monitor.end_reading(&reading(now), std::iter::empty());
        assert!(monitor.is_due(now));
    }
}
