//! The further processes that the application declares (`process` of the config file): how many run, when one is
//! replaced, and how it ends.

mod app_process;
mod declaration;
mod load_meter;
mod one_offs;

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use carat_settings::{ProcessSettings, RestartPolicy};
use rustix::process::Signal;

use self::app_process::AppProcess;
use self::declaration::{Declaration, ForkOrigin};
use self::one_offs::OneOffProcesses;
use super::processes::memory_monitor::AppGrowth;
use super::processes::running_process::RunningProcess;
use super::reaction::Reaction;
use crate::command::{AppCommand, AppSubject, Command};
use crate::exit_status::ExitStatus;
use crate::log_line::LogLine;
use crate::reading::AppReading;
use crate::ruby_process::{AppProcessId, Role, RubyProcess};

/// The further processes of the application: their declarations, and the running processes.
#[derive(Debug)]
pub struct AppProcesses {
    declarations: Vec<Declaration>,
    pub(super) one_offs: OneOffProcesses,
    /// How many processes were forked so far.
    serial: u64,
    oldest_generation: u32,
    /// Whether the old edge of an upgrade may still run its further processes.
    pub(super) awaits_predecessor: bool,
    /// Whether all processes are to end, except one-off processes.
    is_ending: bool,
}

/// A further process of the application as `carat status` shows it.
#[derive(Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields are named after what they hold")]
pub struct AppProcessStatus {
    pub name: String,
    pub number: u32,
    pub generation: u32,
    pub pid: Option<u32>,
    pub stage: &'static str,
    /// How long the process has run the application's block.
    pub age: Duration,
    /// The private memory of the process and its descendants when it was last read.
    pub private: Option<u64>,
    /// How many descendants of the process run.
    pub descendants: u32,
}

/// How many processes of a name should run.
#[derive(Clone, PartialEq)]
#[expect(missing_docs, reason = "fields are named after what they hold")]
pub struct WantedProcesses {
    pub name: String,
    pub wanted: u32,
    /// The fewest and the most processes. The two are equal unless the number follows the load.
    pub bounds: RangeInclusive<u32>,
    /// Whether the config file has a load that the number can follow.
    pub has_load: bool,
    /// The load, when it was last measured.
    pub load: Option<f64>,
}

/// The further processes of the application, which can make room for a mold.
#[derive(Debug, Clone, Copy)]
pub(super) struct AppsRoom {
    /// The private memory of the processes that would start again after they have ended.
    pub(super) bytes: u64,
    /// Whether all processes have ended.
    pub(super) have_ended: bool,
    /// The longest time that one of them may take to end.
    pub(super) end_within: Duration,
}

impl AppProcesses {
    pub(super) fn new(settings: Vec<ProcessSettings>) -> AppProcesses {
        AppProcesses {
            declarations: settings.into_iter().map(Declaration::new).collect(),
            one_offs: OneOffProcesses::default(),
            serial: 0,
            oldest_generation: 0,
            awaits_predecessor: false,
            is_ending: false,
        }
    }

    /// The id of the process that is forked next.
    pub fn next_id(&self) -> AppProcessId {
        AppProcessId(self.serial + 1)
    }

    /// Adds a one-off process of this name for a client of the control socket. It is forked as soon as a mold can fork.
    pub(super) fn open_one_off(&mut self, id: AppProcessId, name: &str, reaction: &Reaction) {
        self.serial = id.0;
        self.one_offs.open(id, name, reaction);
    }

    /// The settings of the processes that the configuration declares.
    pub(super) fn settings(&self) -> Vec<ProcessSettings> {
        let declared = self.declarations.iter().filter(|it| it.is_declared);
        declared.map(|it| it.settings.clone()).collect()
    }

    /// Adopts the declarations of new code. Processes of generations before this one are replaced.
    pub(super) fn adopt(&mut self, settings: Vec<ProcessSettings>, generation: u32) {
        self.oldest_generation = generation;
        let mut settings = settings;
        for declaration in &mut self.declarations {
            let name = &declaration.settings.name;
            let index = settings.iter().position(|it| it.name == *name);
            declaration.adopt(index.map(|index| settings.remove(index)));
        }
        let new = settings.into_iter().map(Declaration::new);
        self.declarations.extend(new);
    }

    /// The number of processes that each declared name wants, with its bounds and its load.
    pub fn wanted(&self) -> Vec<WantedProcesses> {
        let declared = self.declarations.iter().filter(|it| it.is_declared);
        let wanted = declared.map(|it| WantedProcesses {
            name: it.settings.name.clone(),
            wanted: it.wanted,
            bounds: it.bounds(),
            has_load: it.settings.count < it.settings.most,
            load: it.meter.load,
        });
        wanted.collect()
    }

    /// Sets how many processes of this name run. The number survives a restart, until the config file has another one.
    pub(super) fn scale(
        &mut self,
        name: &str,
        bounds: RangeInclusive<u32>,
        reaction: &mut Reaction,
    ) {
        let mut declarations = self.declarations.iter_mut();
        if let Some(declaration) = declarations.find(|it| it.settings.name == name) {
            let line = LogLine::info("processes scaled").text("process", name);
            let line = line.number("min", *bounds.start());
            reaction.log(line.number("max", *bounds.end()));
            declaration.scale(bounds);
        }
    }

    /// Sets whether all processes are to end (`is_ending`), and whether one-off processes are to end as well
    /// (`is_stopping`).
    pub(super) fn set_ending(&mut self, is_ending: bool, is_stopping: bool) {
        (self.is_ending, self.one_offs.are_ending) = (is_ending, is_stopping);
    }

    /// Whether all processes have ended and none will start. One-off processes do not count, because a new edge does
    /// not wait for them.
    pub fn are_over(&self) -> bool {
        self.is_ending && self.have_ended()
    }

    /// How the processes can make room for a mold.
    pub(super) fn room(&self, reaction: &Reaction) -> AppsRoom {
        AppsRoom {
            bytes: self.restartable_bytes(),
            have_ended: self.have_ended(),
            end_within: self.stop_timeout(reaction.limits.shutdown_timeout),
        }
    }

    /// The private memory of the processes that would start again if they ended now. Zero if one of them would not
    /// start again.
    fn restartable_bytes(&self) -> u64 {
        let mut declared = self.declarations.iter();
        if declared.any(|it| it.settings.restart != RestartPolicy::Always) {
            return 0;
        }
        let members = self.declarations.iter().flat_map(|it| &it.members);
        let staying = members.filter(|it| it.stays());
        staying.filter_map(|it| it.private).sum()
    }

    /// Whether all declared processes have ended.
    fn have_ended(&self) -> bool {
        self.declarations.iter().all(Declaration::is_over)
    }

    /// Whether no process is left, except processes that even SIGKILL does not end.
    pub(super) fn is_empty(&self, reaction: &Reaction) -> bool {
        self.all().all(|it| it.is_empty(reaction))
    }

    /// Ends the processes that are to end, and forks the missing ones. `generation` is the generation of a mold that
    /// can fork; `None` until the server serves.
    pub(super) fn advance(&mut self, generation: Option<u32>, reaction: &mut Reaction) {
        // Processes of old code are told to end even while no mold can fork their successors.
        let origin = ForkOrigin {
            generation: generation.unwrap_or_default(),
            oldest_generation: self.oldest_generation,
        };
        let origin = Some(origin).filter(|_| !self.is_ending);
        for declaration in &mut self.declarations {
            declaration.advance(origin, reaction);
        }
        self.one_offs.advance(generation, reaction);
        self.declarations
            .retain(|it| it.is_declared || !it.is_over());
        if let (Some(origin), Some(_), false) = (origin, generation, self.awaits_predecessor) {
            self.fork_missing(origin, reaction);
        }
    }

    fn fork_missing(&mut self, origin: ForkOrigin, reaction: &mut Reaction) {
        for declaration in &mut self.declarations {
            while declaration.lacks(origin, reaction) {
                self.serial += 1;
                declaration.fork(AppProcessId(self.serial), origin, reaction);
            }
            if declaration.is_measured(reaction.now) {
                self.serial += 1;
                let id = AppProcessId(self.serial);
                declaration.measure(id, origin.generation, reaction);
            }
        }
    }

    fn of(&mut self, id: AppProcessId) -> Option<&mut Declaration> {
        let mut all = self
            .declarations
            .iter_mut()
            .chain(&mut self.one_offs.of_names);
        all.find(|it| it.members.iter().any(|process| process.id == id))
    }

    fn all(&self) -> impl Iterator<Item = &Declaration> {
        self.declarations.iter().chain(&self.one_offs.of_names)
    }

    /// The declaration whose load this process measures.
    fn measured_by(&mut self, id: AppProcessId) -> Option<&mut Declaration> {
        let mut declarations = self.declarations.iter_mut();
        declarations.find(|it| it.meter.process().is_some_and(|(known, _)| known == id))
    }

    /// Whether this process measures a load.
    pub(super) fn is_meter(&mut self, id: AppProcessId) -> bool {
        self.measured_by(id).is_some()
    }

    /// Passes on the load of one name's processes. `fits` says whether there is memory for this many bytes.
    pub(super) fn measured(
        &mut self,
        meter: AppProcessId,
        load: f64,
        fits: impl FnOnce(u64) -> bool,
        reaction: &mut Reaction,
    ) {
        if let Some(declaration) = self.measured_by(meter) {
            declaration.measured(load, fits, reaction);
        }
    }

    fn meters(&self) -> impl Iterator<Item = (&str, AppProcessId, u32)> {
        self.declarations.iter().filter_map(|it| {
            let (id, pid) = it.meter.process()?;
            Some((it.settings.name.as_str(), id, pid?))
        })
    }

    fn members(&self) -> impl Iterator<Item = (&ProcessSettings, &AppProcess)> {
        self.all()
            .flat_map(|it| it.members.iter().map(|process| (&it.settings, process)))
    }

    /// The process with this process id.
    pub(super) fn with_pid(&self, pid: u32) -> Option<AppProcessId> {
        let mut members = self.members();
        // The first process of a group may have ended while its descendants run. No new process gets its process id
        // until then.
        let found = members.find_map(|(_, it)| (it.pid == Some(pid)).then_some(it.id));
        let mut meters = self.meters();
        found.or_else(|| meters.find_map(|(_, id, known)| (known == pid).then_some(id)))
    }

    /// Notes the process id from the first message of a process. A process that was told to end before that is killed.
    pub(super) fn hello(&mut self, id: AppProcessId, pid: u32, reaction: &mut Reaction) {
        let process = self.of(id).and_then(|it| it.get_mut(id));
        if let Some(process) = process {
            process.pid = Some(pid);
            if !process.stays() {
                process.kill(reaction);
            }
        } else if let Some(declaration) = self.measured_by(id) {
            declaration.meter.hello(pid);
        }
    }

    /// A process is ready. It is told to run the application's block, or to measure the load.
    pub(super) fn ready(&mut self, id: AppProcessId, reaction: &mut Reaction) {
        if let Some(declaration) = self.of(id) {
            declaration.ready(id, reaction);
        } else if self.is_meter(id) {
            reaction.push(Command::App(AppCommand::Begin(id)));
        }
    }

    /// Notes why a process ends, in its own words or the mold's.
    pub(super) fn failed(&mut self, id: AppProcessId, cause: &str, reaction: &mut Reaction) {
        if let Some(Declaration {
            meter, settings, ..
        }) = self.measured_by(id)
        {
            meter.failed(&settings.name, cause, reaction);
            return meter.closed(&settings.name, reaction);
        }
        let Some(declaration) = self.of(id) else {
            return;
        };
        match declaration.get_mut(id) {
            Some(process) if process.pid.is_some() => process.cause = Some(cause.to_owned()),
            Some(_) | None => declaration.lose(id, cause, reaction),
        }
    }

    /// The control socket of a process is closed: the process runs a command, ends, or was never forked.
    pub(super) fn closed(&mut self, id: AppProcessId, reaction: &mut Reaction) {
        if let Some(it) = self.measured_by(id) {
            return it.meter.closed(&it.settings.name, reaction);
        }
        let Some(declaration) = self.of(id) else {
            return;
        };
        let is_new = |process: &mut AppProcess| process.pid.is_none();
        if declaration.get_mut(id).is_some_and(is_new) {
            declaration.lose(id, "the mold ended before it forked it", reaction);
        }
    }

    /// A process has ended. Its descendants may still run.
    pub(super) fn exited(
        &mut self,
        id: AppProcessId,
        status: ExitStatus,
        is_oom: bool,
        reaction: &mut Reaction,
    ) {
        if let Some(declaration) = self.of(id) {
            declaration.exited(id, status, is_oom, reaction);
        } else if let Some(it) = self.measured_by(id) {
            it.meter.exited(&it.settings.name, status, reaction);
        }
    }

    /// Forgets a process: neither it nor a descendant is left.
    pub(super) fn group_ended(&mut self, id: AppProcessId) {
        if let Some(declaration) = self.of(id) {
            declaration.group_ended(id);
        }
    }

    /// Marks the processes of this name, or the one with this number, for replacement.
    pub(super) fn replace(&mut self, name: &str, number: Option<u32>) {
        let mut declarations = self.declarations.iter_mut();
        if let Some(declaration) = declarations.find(|it| it.settings.name == name) {
            declaration.replace(number);
        }
    }

    /// Notes that a worker has become the mold. Processes that share much less memory because of that move to the new
    /// mold.
    pub(super) fn begin_refork(&mut self) {
        let declarations = self.declarations.iter_mut();
        declarations.for_each(Declaration::begin_refork);
    }

    /// Records the memory of the processes that were read.
    pub(super) fn record_memory(&mut self, apps: &[AppReading], reaction: &mut Reaction) {
        for reading in apps {
            if let Some(declaration) = self.of(reading.id) {
                declaration.record_memory(reading, reaction);
            }
        }
    }

    /// The memory that the processes will take beyond what was read. It is zero while all processes are to end, unless
    /// they start again soon (`is_soon`), and while they wait for the end of the old edge's processes.
    pub(super) fn growth(&self, is_soon: bool, now: Instant) -> AppGrowth {
        let mut growth = AppGrowth::default();
        let is_still = (self.is_ending && !is_soon) || self.awaits_predecessor;
        let declarations = self.declarations.iter().filter(|_| !is_still);
        for bytes in declarations.flat_map(|it| it.growth(now)) {
            match bytes {
                Some(bytes) => growth.bytes = growth.bytes.saturating_add(bytes),
                None => growth.unknown += 1,
            }
        }
        growth
    }

    /// The processes whose memory is read.
    pub(super) fn groups(&self) -> Vec<AppSubject> {
        let subject = |process: &AppProcess| {
            Some(AppSubject {
                id: process.id,
                group: process.pid?,
            })
        };
        self.members().filter_map(|(_, it)| subject(it)).collect()
    }

    /// The processes whose process ids are known, with their names and numbers.
    pub fn running(&self) -> Vec<(RunningProcess, String, u32)> {
        let members = self.members();
        let running = members.filter_map(|(settings, it)| {
            let process = RunningProcess {
                process: RubyProcess::App(it.id),
                role: Role::Process,
                generation: it.generation,
                pid: it.pid?,
                listens: false,
            };
            Some((process, settings.name.clone(), it.number))
        });
        running.collect()
    }

    /// Every further process of the application as `carat status` shows it.
    pub fn statuses(&self, now: Instant) -> impl Iterator<Item = AppProcessStatus> {
        self.members().map(move |(settings, it)| AppProcessStatus {
            name: settings.name.clone(),
            number: it.number,
            generation: it.generation,
            pid: it.pid,
            stage: it.stage_name(),
            age: it.age(now),
            private: it.private,
            descendants: it.descendants,
        })
    }

    /// The longest time that a process may take to end; `default` counts for a process without `stop_timeout`.
    pub(super) fn stop_timeout(&self, default: Duration) -> Duration {
        let timeouts = self.members().map(|(settings, _)| settings.stop_timeout);
        timeouts
            .map(|it| it.unwrap_or(default))
            .max()
            .unwrap_or_default()
    }

    /// Kills all processes, because the server ends. They stay in the list.
    pub(super) fn kill_all(&self, reaction: &mut Reaction) {
        let groups = self.groups().into_iter().map(|it| (it.id, it.group));
        let meters = self.meters().map(|(_, id, pid)| (id, pid));
        for (id, pid) in groups.chain(meters) {
            let signal = Signal::KILL.as_raw();
            reaction.push(Command::App(AppCommand::SignalGroup { id, pid, signal }));
        }
    }
}
