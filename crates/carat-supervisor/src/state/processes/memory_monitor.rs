use std::collections::BTreeSet;
use std::iter;
use std::time::{Duration, Instant};

use carat_policy::{
    ByteSize, EdgeReserve, MemoryApproach, MemoryBudget, MemoryTrend, OomKills, WorkerCeiling,
    WorkerLoad, reading_pause, worker_cost,
};

use super::mold::Mold;
use super::molds::Molds;
use super::worker::{Worker, WorkerMemory};
use super::workers::Workers;
use crate::command::{AppSubject, ClientsCommand, Command, MemorySubject, MemorySubjects};
use crate::log_line::LogLine;
use crate::reading::MemoryReading;
use crate::state::reaction::Reaction;

/// The time until the next reading is due, as long as one is under way. The end of that reading sets the real one.
const READING: Duration = Duration::from_secs(3600);

/// A worker that has served this many requests will hardly grow.
const GROWN_REQUESTS: u64 = 100;

/// The anonymous memory that a worker shares with the mold, divided by this, is what garbage collections write to over
/// time, and so copy.
const COLLECTED: u64 = 2;

/// The load of a process whose memory is not known.
const UNREAD: WorkerLoad = WorkerLoad {
    private: None,
    highest: 0,
    is_grown: false,
};

/// The known memory of all processes, and when to read it again.
#[derive(Debug)]
pub struct MemoryMonitor {
    due: Instant,
    is_reading: bool,
    oom_kills: OomKills,
    edge: EdgeReserve,
    /// The process ids of the reading under way.
    reading: BTreeSet<u32>,
    read: BTreeSet<u32>,
    /// The process id of the current mold in the reading under way.
    reading_mold: Option<u32>,
    read_mold: Option<u32>,
    /// Anonymous memory of the mold that forked last.
    mold_bytes: u64,
    /// The anonymous memory of the last mold that loaded the application.
    booted_bytes: u64,
    /// The peak of that memory while the mold loaded the application.
    booted_peak: u64,
    /// How many readings have to end until one includes the last process that started or ended.
    urgent_readings: u8,
    /// `None` until the first reading.
    pub totals: Option<MemoryTotals>,
    ceiling: WorkerCeiling,
    has_warned_of_shortage: bool,
    /// The memory that further processes of the application will take.
    pub app_growth: AppGrowth,
}

/// The memory that further processes of the application will take beyond what was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AppGrowth {
    /// The bytes of the processes whose size is known, because other processes of their names were read.
    pub bytes: u64,
    /// How many processes have an unknown size; each counts as a worker.
    pub unknown: usize,
}

/// The memory budget, and what all processes together use of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryTotals {
    pub budget: MemoryBudget,
    pub used: MemoryTrend,
}

impl MemoryMonitor {
    pub fn new(now: Instant, oom_kills: u64) -> MemoryMonitor {
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
            booted_bytes: 0,
            booted_peak: 0,
            urgent_readings: 0,
            totals: None,
            ceiling: WorkerCeiling::default(),
            has_warned_of_shortage: false,
            app_growth: AppGrowth::default(),
        }
    }

    /// Whether memory is to be read now. False during a reading.
    fn is_due(&self, now: Instant) -> bool {
        !self.is_reading && now >= self.due
    }

    /// Whether no process started or ended since the last reading.
    pub fn is_current(&self, now: Instant) -> bool {
        !self.is_reading && now < self.due
    }

    /// Whether a reading began and ended since a process last started or ended.
    fn is_fresh(&self) -> bool {
        self.urgent_readings == 0
    }

    /// Has memory read as soon as possible: a process started or ended.
    pub fn read_soon(&mut self, now: Instant) {
        // The reading under way may have begun before that, so a further one follows.
        self.urgent_readings = 1 + u8::from(self.is_reading);
        self.due = now;
    }

    /// Orders a reading of the memory of all processes when one is due.
    pub fn read(
        &mut self,
        workers: &Workers,
        molds: &Molds,
        apps: Vec<AppSubject>,
        reaction: &mut Reaction,
    ) {
        let mold = molds.ready();
        let is_empty = mold.is_none() && workers.is_empty();
        if is_empty || !self.is_due(reaction.now) {
            return;
        }
        let subjects = MemorySubjects {
            mold: mold.and_then(|mold| Some((mold.generation, mold.pid?))),
            workers: workers.iter().filter_map(subject).collect(),
            apps,
            others: molds.others().filter_map(|(mold, _)| mold.pid).collect(),
        };
        self.begin_reading(&subjects);
        reaction.push(Command::ReadMemory(subjects));
    }

    fn begin_reading(&mut self, subjects: &MemorySubjects) {
        let workers = subjects.workers.iter().map(|worker| worker.pid);
        let molds = subjects.others.iter().copied();
        let molds = molds.chain(subjects.mold.map(|(_, pid)| pid));
        self.reading = workers.chain(molds).collect();
        self.reading_mold = subjects.mold.map(|(_, pid)| pid);
        self.is_reading = true;
        self.due += READING;
    }

    /// Records a reading of the memory of all processes.
    pub fn record(
        &mut self,
        reading: &MemoryReading,
        workers: &mut Workers,
        molds: &mut Molds,
        reaction: &mut Reaction,
    ) {
        self.record_total(reading, reaction);
        if let Some((generation, anonymous)) = reading.mold {
            self.mold_bytes = anonymous;
            if let Some(mold) = molds.current_mut(generation) {
                if mold.has_booted && mold.anonymous.is_none() {
                    self.booted_bytes = anonymous;
                    self.booted_peak = reading.mold_peak.unwrap_or(anonymous);
                }
                mold.anonymous = Some(anonymous);
            }
        }
        let limit = reaction.limits.worker_memory;
        record_workers(reading, limit.unwrap_or(u64::MAX), workers);
        let known = workers.iter().filter_map(|worker| worker.memory);
        let approaches = known.filter_map(|memory| Some(memory.private.approach(limit?)));
        self.end_reading(reading, approaches);
    }

    fn record_total(&mut self, reading: &MemoryReading, reaction: &mut Reaction) {
        self.oom_kills.note(reading.container.oom_kills, reading.at);
        let limits = &reaction.limits;
        let budget = MemoryBudget::new(limits.memory, &reading.container, limits.machine_memory);
        self.edge.note(&reading.edge);
        let edge = self.edge.bytes(limits.client_memory);
        let used = budget.used(reading.ruby, &reading.edge, edge, &reading.container);
        let before = self.totals.map(|totals| totals.used);
        let used = MemoryTrend::after(before, used, budget.limit, reading.at);
        let before = self.totals.replace(MemoryTotals { budget, used });
        // The container's limit has changed, perhaps since the edge computed the client memory at its start. The client
        // memory changes with it.
        if before.is_none_or(|before| before.budget.limit != budget.limit) {
            let budget = budget.limit;
            reaction.push(Command::Clients(ClientsCommand::Limit { budget }));
            self.ceiling = WorkerCeiling::default();
        }
        self.ceiling.review(reading.at);
    }

    /// Ends a reading. The next one is due when a worker, or the total, may reach its limit.
    fn end_reading(
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
        self.urgent_readings = self.urgent_readings.saturating_sub(1);
        self.is_reading = false;
        self.due = self.due.min(reading.at + reading.took + pause);
    }

    /// Whether the last reading includes this process as the current mold.
    fn includes_mold(&self, mold: &Mold) -> bool {
        mold.pid.is_some() && self.read_mold == mold.pid
    }

    /// Whether the last reading includes this process.
    fn includes(&self, pid: Option<u32>) -> bool {
        pid.is_some_and(|pid| self.read.contains(&pid))
    }

    /// Whether the last reading shows the memory of all processes: no worker boots, every running worker and the mold
    /// were read, and no process has started or ended since.
    pub fn knows_all(&self, workers: &Workers, molds: &Molds, now: Instant) -> bool {
        let mold = molds.current.as_ref();
        if mold.is_none() && workers.is_empty() {
            return true;
        }
        let is_read = |pid| self.includes(Some(pid));
        workers.booting() == 0
            && workers.iter().filter_map(|it| it.pid).all(is_read)
            && mold.is_none_or(|mold| self.includes_mold(mold))
            && self.is_current(now)
    }

    /// How many more workers fit: none before the first reading, and any number if the kernel does not say. Workers
    /// that stay may still grow. Each process that no reading includes counts as a worker.
    pub fn room(&self, workers: &Workers, molds: &Molds) -> u32 {
        self.room_for(workers, molds, Worker::load, |mold| mold / COLLECTED)
    }

    /// How many more workers fit if they are busy from the start: each may need as much memory as it has ever needed.
    /// While no worker has grown, nothing is known of their garbage, so each counts as the whole mold.
    pub fn busy_room(&self, workers: &Workers, molds: &Molds) -> u32 {
        self.room_for(workers, molds, Worker::highest_load, |mold| mold)
    }

    /// How many more workers fit. While no worker has grown, `ungrown` computes from the mold's bytes how many each
    /// takes.
    fn room_for(
        &self,
        workers: &Workers,
        molds: &Molds,
        load: fn(&Worker) -> WorkerLoad,
        ungrown: fn(u64) -> u64,
    ) -> u32 {
        let mold = molds.current.as_ref();
        let is_unread = mold.is_some_and(|mold| mold.is_ready && !self.includes_mold(mold));
        let Some(totals) = self.totals.filter(|_| !is_unread) else {
            return 0;
        };
        let is_reserving = |worker: &&Worker| worker.stays() || worker.memory.is_none();
        let others = molds.others().filter(|(it, _)| !self.includes(it.pid));
        let unread = iter::repeat_n(UNREAD, others.count() + self.app_growth.unknown);
        let known = workers.iter().filter(is_reserving).map(load);
        let loads: Vec<WorkerLoad> = known.chain(unread).collect();
        let cost = worker_cost(&loads, mold.and_then(|it| it.anonymous).map(ungrown));
        let room = cost.map_or(u32::MAX, |cost| {
            let reserved = self.reserved(molds).saturating_add(self.app_growth.bytes);
            let used = totals.used.bytes.saturating_add(reserved);
            totals.budget.room(used, cost, &loads)
        });
        room.min(self.ceiling.room(workers.staying()))
    }

    /// Whether the last reading shows that all processes together exceed the budget.
    pub fn is_over(&self, now: Instant) -> bool {
        let is_over = |totals: MemoryTotals| totals.budget.is_over(totals.used.bytes);
        self.is_current(now) && self.totals.is_some_and(is_over)
    }

    /// Whether this many bytes fit beside what is used and reserved.
    pub fn fits(&self, bytes: u64) -> bool {
        self.totals.is_some_and(|totals| {
            let used = totals.used.bytes.saturating_add(self.app_growth.bytes);
            !totals.budget.is_over(used.saturating_add(bytes))
        })
    }

    /// The bytes reserved for the mold of a restart until a reading shows its full size: as much as the last mold that
    /// loaded the application took.
    fn reserved(&self, molds: &Molds) -> u64 {
        let is_read = molds.next().is_some_and(|it| it.is_ready) && self.is_fresh();
        if molds.is_restarting() && !is_read {
            self.booted_bytes
        } else {
            0
        }
    }

    /// How many bytes are missing for a second mold, which will need as much memory as the last one that loaded the
    /// application.
    pub fn missing_for_mold(&self) -> u64 {
        self.totals.map_or(0, |totals| {
            let used = totals.used.bytes;
            (totals.budget).missing(used, self.booted_bytes, self.booted_peak)
        })
    }

    /// Notes that a worker was marked because of the total, and that `staying` workers stay. Further readings are
    /// needed before another one is marked.
    pub fn relieved(&mut self, staying: u32, now: Instant) {
        self.ceiling.lower(staying, now);
        if let Some(totals) = &mut self.totals {
            totals.used = totals.used.restarted();
        }
    }

    /// Whether the OOM killer explains that a process was killed, given the kernel's count at its exit.
    pub fn explains_kill(&mut self, oom_kills: u64, now: Instant) -> bool {
        self.oom_kills.explains(oom_kills, now)
    }

    /// Logs once that there is no memory for the workers that are wanted.
    pub fn warn_of_shortage(&mut self, workers: u32, wanted: u32, reaction: &mut Reaction) {
        let Some(totals) = self.totals.filter(|_| !self.has_warned_of_shortage) else {
            return;
        };
        self.has_warned_of_shortage = true;
        let line = LogLine::warn("no memory for more workers (memory)");
        let line = line.number("workers", workers).number("wanted", wanted);
        reaction.log(totals.describe(line));
    }

    /// Notes that all wanted workers run: the next shortage is logged again.
    pub fn end_shortage(&mut self) {
        self.has_warned_of_shortage = false;
    }
}

impl MemoryTotals {
    /// Adds the bytes that are used, and the limit, to a log line.
    pub fn describe(&self, line: LogLine) -> LogLine {
        line.text("used", ByteSize(self.used.bytes))
            .text("limit", ByteSize(self.budget.limit))
    }
}

fn subject(worker: &Worker) -> Option<MemorySubject> {
    Some(MemorySubject {
        worker: worker.id,
        pid: worker.pid?,
        is_ready: worker.is_ready(),
        is_grown: worker.requests >= GROWN_REQUESTS,
    })
}

fn record_workers(reading: &MemoryReading, limit: u64, workers: &mut Workers) {
    let ready = reading.workers.iter().filter(|(it, _)| it.is_ready);
    for (subject, private) in ready {
        if let Some(worker) = workers.get_mut(subject.worker) {
            let before = worker.memory.map(|memory| memory.private);
            worker.memory = Some(WorkerMemory {
                private: MemoryTrend::after(before, *private, limit, reading.at),
                is_grown: subject.is_grown,
            });
        }
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
            mold_peak: None,
            workers: Vec::new(),
            apps: Vec::new(),
            processes: Vec::new(),
            container: ContainerMemory::default(),
            processors: 1,
        }
    }

    fn no_subjects() -> MemorySubjects {
        MemorySubjects {
            mold: None,
            workers: Vec::new(),
            apps: Vec::new(),
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
        monitor.read_soon(now);
        monitor.end_reading(&reading(now), std::iter::empty());
        assert!(monitor.is_due(now));
    }
}
