use std::iter;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use carat_policy::{Backoff, LoadRule};
use carat_settings::{ProcessSettings, RestartPolicy};

use super::app_process::{AppProcess, AppStage};
use super::load_meter::LoadMeter;
use crate::command::{AppCommand, Command};
use crate::exit_status::ExitStatus;
use crate::log_line::LogLine;
use crate::reading::AppReading;
use crate::ruby_process::{AppProcessId, RubyProcess};
use crate::state::reaction::Reaction;

/// A process that ran for this long did not fail at its start, so the pause before its successor starts does not grow.
const STEADY: Duration = Duration::from_secs(30);

/// With `overlap`, a process is told to end when its successor has run for this long. In that time, a successor that
/// runs Solid Queue forks a scheduler, which begins with the next tick.
const OVERLAP: Duration = Duration::from_secs(10);

/// The number of a process that only measures the load of the other processes of its name.
const LOAD_NUMBER: u32 = 0;
/// A process with more descendants than this is replaced: it forks by mistake.
const DESCENDANTS_LIMIT: u32 = 256;

/// The mold that forks processes now.
#[derive(Clone, Copy)]
pub(super) struct ForkOrigin {
    /// The generation of the mold.
    pub(super) generation: u32,
    /// Processes of older generations run old code.
    pub(super) oldest_generation: u32,
}

/// A `process` of the config file, and its running processes.
#[derive(Debug)]
pub(super) struct Declaration {
    pub(super) settings: ProcessSettings,
    /// Whether the config file of the current code has this declaration.
    pub(super) is_declared: bool,
    /// Whether these are one-off processes: a client of the control socket asks for each, and learns how it ends.
    pub(super) is_one_off: bool,
    /// How many processes should run, within `bounds`. The number follows the load unless the bounds are equal.
    pub(super) wanted: u32,
    bounds: RangeInclusive<u32>,
    rule: LoadRule,
    pub(super) meter: LoadMeter,
    /// How many processes have ended for good: the setting `restart` says that none takes their place.
    finished: u32,
    /// The largest private memory that was read of a process of this name.
    largest: Option<u64>,
    backoff: Backoff,
    pub(super) members: Vec<AppProcess>,
}

impl Declaration {
    pub(super) fn new(settings: ProcessSettings) -> Declaration {
        Declaration {
            is_declared: true,
            is_one_off: false,
            wanted: settings.count,
            bounds: settings.count..=settings.most,
            rule: LoadRule::default(),
            meter: LoadMeter::default(),
            settings,
            finished: 0,
            largest: None,
            backoff: Backoff::default(),
            members: Vec::new(),
        }
    }

    /// Adopts the settings of new code; `None` if it does not declare the process any more.
    pub(super) fn adopt(&mut self, settings: Option<ProcessSettings>) {
        self.finished = 0;
        self.largest = None;
        self.backoff.succeed();
        self.is_declared = settings.is_some();
        if let Some(settings) = settings {
            let bounds = settings.count..=settings.most;
            if bounds != (self.settings.count..=self.settings.most) {
                self.set_bounds(bounds);
            }
            self.settings = settings;
        }
    }

    /// Sets the bounds for the number of processes. Processes that had finished for good are started again.
    pub(super) fn scale(&mut self, bounds: RangeInclusive<u32>) {
        self.set_bounds(bounds);
        self.finished = 0;
        self.backoff.succeed();
    }

    fn set_bounds(&mut self, bounds: RangeInclusive<u32>) {
        self.wanted = self.wanted.clamp(*bounds.start(), *bounds.end());
        self.bounds = bounds;
    }

    /// The fewest and the most processes that run.
    pub(super) fn bounds(&self) -> RangeInclusive<u32> {
        self.bounds.clone()
    }

    fn follows_load(&self) -> bool {
        self.is_declared && self.bounds.start() < self.bounds.end()
    }

    /// Whether the load is to be measured.
    pub(super) fn is_measured(&self, now: Instant) -> bool {
        self.follows_load() && self.meter.is_due(now)
    }

    /// Begins a measurement of the load, in a process that the mold forks.
    pub(super) fn measure(&mut self, id: AppProcessId, generation: u32, reaction: &mut Reaction) {
        self.meter.begin(id, reaction.now);
        reaction.push(Command::App(AppCommand::Fork {
            id,
            name: self.settings.name.clone(),
            number: LOAD_NUMBER,
            generation,
        }));
    }

    /// Adapts the wanted number to a load that was measured. `fits` says whether there is memory for one more process.
    pub(super) fn measured(
        &mut self,
        load: f64,
        fits: impl FnOnce(u64) -> bool,
        reaction: &mut Reaction,
    ) {
        self.meter.measured(load);
        let running = self.members.iter().filter(|it| it.is_running()).count();
        let may_grow = running >= self.wanted as usize && fits(self.largest.unwrap_or_default());
        let before = self.wanted;
        self.wanted = (self.rule).follow(load, before, &self.bounds, may_grow, reaction.now);
        if self.wanted != before {
            reaction.log(
                LogLine::info("processes follow their load")
                    .text("process", &self.settings.name)
                    .number("count", self.wanted)
                    .text("load", format!("{load:.2}")),
            );
        }
    }

    /// How many processes should run now.
    fn target(&self) -> u32 {
        let wanted = if self.is_declared { self.wanted } else { 0 };
        wanted.saturating_sub(self.finished)
    }

    pub(super) fn get_mut(&mut self, id: AppProcessId) -> Option<&mut AppProcess> {
        self.members.iter_mut().find(|it| it.id == id)
    }

    /// Ends the processes that are overdue, to be replaced, or too many. `origin` is `None` while no process is to run.
    pub(super) fn advance(&mut self, origin: Option<ForkOrigin>, reaction: &mut Reaction) {
        self.end_overdue(reaction);
        self.meter.end_overdue(&self.settings.name, reaction);
        if origin.is_none() || !self.follows_load() {
            self.meter.stop(reaction);
        }
        let Some(origin) = origin else {
            return self.end_surplus(0, "process ends", reaction);
        };
        self.end_old(origin, reaction);
        let target = self.target();
        let is_old = |it: &AppProcess| it.stays() && it.is_replaced(origin.oldest_generation);
        let overlaps = self.settings.overlap && target > 0 && self.members.iter().any(is_old);
        let most = target.saturating_add(u32::from(overlaps));
        self.end_surplus(most, "surplus process ends", reaction);
    }

    /// Ends the processes that are to be replaced, one after another, so that the others work on meanwhile. With
    /// `overlap`, a successor counts only after it has had the time to begin its work.
    fn end_old(&mut self, origin: ForkOrigin, reaction: &mut Reaction) {
        let overlap = if self.settings.overlap {
            OVERLAP
        } else {
            Duration::ZERO
        };
        let works = |it: &&AppProcess| {
            it.is_replaced(origin.oldest_generation) || it.age(reaction.now) >= overlap
        };
        let running = self.members.iter().filter(|it| it.is_running());
        let mut running = running.filter(works).count();
        let others = (self.target() as usize).saturating_sub(usize::from(!self.settings.overlap));
        let is_old = |it: &&mut AppProcess| it.is_replaced(origin.oldest_generation);
        for old in self.members.iter_mut().filter(is_old) {
            if old.is_running() {
                if running <= others {
                    continue;
                }
                running -= 1;
            }
            old.end(&self.settings, "process is replaced", reaction);
        }
    }

    /// Ends the newest processes beyond `most`.
    fn end_surplus(&mut self, most: u32, message: &'static str, reaction: &mut Reaction) {
        let staying = self.members.iter_mut().filter(|it| it.stays());
        for process in staying.skip(most as usize) {
            process.end(&self.settings, message, reaction);
        }
    }

    /// Whether one more process is to be forked. A process that has not ended yet takes a place; with `overlap`, there
    /// is one place more.
    pub(super) fn lacks(&self, origin: ForkOrigin, reaction: &Reaction) -> bool {
        let target = self.target() as usize;
        let is_new = |it: &&AppProcess| it.stays() && !it.is_replaced(origin.oldest_generation);
        let is_missing = self.members.iter().filter(is_new).count() < target;
        let most = target + usize::from(self.settings.overlap);
        is_missing && self.members.len() < most && self.backoff.allows(reaction.now)
    }

    /// The memory that the processes will take beyond what was read: an item for each process that is missing, young,
    /// or not yet read. The item is the memory that the process lacks in comparison with the largest process of this
    /// name; `None` while no process of this name has been read.
    pub(super) fn growth(&self, now: Instant) -> impl Iterator<Item = Option<u64>> {
        let staying = self.members.iter().filter(|it| it.stays());
        let missing = (self.target() as usize).saturating_sub(self.members.len());
        let growing = staying.filter(move |it| it.private.is_none() || it.age(now) < STEADY);
        let read = growing.map(|it| it.private);
        let all = read.chain(iter::repeat_n(None, missing));
        all.filter_map(|private| match (self.largest, private) {
            (None, None) => Some(None),
            (None, Some(_)) => None,
            (Some(largest), private) => Some(Some(largest.saturating_sub(private.unwrap_or(0)))),
        })
    }

    /// Marks the processes, or the one with this number, for replacement.
    pub(super) fn replace(&mut self, number: Option<u32>) {
        let is_meant = |it: &&mut AppProcess| number.is_none_or(|number| it.number == number);
        let members = self.members.iter_mut().filter(is_meant);
        members.for_each(|it| it.is_unwanted = true);
    }

    /// Notes that a worker has become the mold: processes move to it if that saves memory. The processes of a command
    /// do not move, because they share no memory with a mold. Processes that may not overlap do not move either,
    /// because their work would pause although nothing is deployed.
    pub(super) fn begin_refork(&mut self) {
        let moves = self.settings.overlap && !self.settings.is_command;
        let members = self.members.iter_mut();
        let members = members.filter(|it| moves && it.is_running());
        members.for_each(AppProcess::begin_refork);
    }

    pub(super) fn fork(&mut self, id: AppProcessId, origin: ForkOrigin, reaction: &mut Reaction) {
        self.add(id, origin.generation, reaction);
        if let Some(process) = self.members.last() {
            reaction.push(process.fork_command(&self.settings));
        }
    }

    /// Adds a process that is about to be forked from the mold of this generation.
    pub(super) fn add(&mut self, id: AppProcessId, generation: u32, reaction: &Reaction) {
        let is_free = |number: &u32| self.members.iter().all(|it| it.number != *number);
        let number = (1..=u32::MAX).find(is_free).unwrap_or(u32::MAX);
        let process = AppProcess::forked(id, number, generation, reaction);
        self.members.push(process);
    }

    pub(super) fn end_overdue(&mut self, reaction: &mut Reaction) {
        let settings = &self.settings;
        for process in &mut self.members {
            process.end_overdue(settings, reaction);
            if let AppStage::Booting { deadline } = process.stage {
                if reaction.now >= deadline && process.pid.is_some() {
                    process.cause = Some("not ready in time (boot_timeout)".to_owned());
                    process.kill(reaction);
                }
            }
        }
        let is_lost = |it: &AppProcess| match it.stage {
            AppStage::Booting { deadline } | AppStage::Ending { deadline } => {
                it.pid.is_none() && reaction.now >= deadline
            }
            AppStage::Running | AppStage::Killed { .. } | AppStage::Orphaned { .. } => false,
        };
        let lost: Vec<_> = self.members.iter().filter(|it| is_lost(it)).collect();
        let lost: Vec<AppProcessId> = lost.into_iter().map(|it| it.id).collect();
        for id in lost {
            self.lose(
                id,
                "the mold did not fork it in time (boot_timeout)",
                reaction,
            );
        }
    }

    /// Tells a process that has booted to run the application's block.
    pub(super) fn ready(&mut self, id: AppProcessId, reaction: &mut Reaction) {
        let name = self.settings.name.clone();
        let process = self.members.iter_mut().find(|it| it.id == id);
        if let Some(process) = process.filter(|it| matches!(it.stage, AppStage::Booting { .. })) {
            process.stage = AppStage::Running;
            reaction.push(Command::App(AppCommand::Begin(id)));
            process.running_since = Some(reaction.now);
            reaction.log(process.identify(&name, LogLine::info("process running")));
        }
    }

    /// Removes a process that has not started, and never will.
    pub(super) fn lose(&mut self, id: AppProcessId, cause: &str, reaction: &mut Reaction) {
        let Some(index) = self.members.iter().position(|it| it.id == id) else {
            return;
        };
        let process = self.members.remove(index);
        reaction.push(Command::CloseControl(RubyProcess::App(id)));
        if self.is_one_off {
            let end = Err(cause.to_owned());
            reaction.push(Command::App(AppCommand::OneOffEnded { id, end }));
        } else if process.stays() {
            let delay = self.backoff.fail(reaction.now);
            let line = LogLine::error("process failed to boot");
            let line = process.identify(&self.settings.name, line);
            reaction.log(line.text("cause", cause).milliseconds("next_try_ms", delay));
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
        let settings = &self.settings;
        let Some(process) = self.members.iter_mut().find(|it| it.id == id) else {
            return;
        };
        let line = if self.is_one_off && !is_oom && process.is_running() {
            // A failure of the client's command is no error of the server.
            let line = process.identify(&settings.name, LogLine::info("process ended"));
            line.text("cause", status)
        } else {
            process.exit_line(settings, status, is_oom)
        };
        if self.is_one_off {
            reaction.log(line);
            let end = match process.cause.take() {
                Some(cause) => Err(cause),
                None => Ok(status),
            };
            reaction.push(Command::App(AppCommand::OneOffEnded { id, end }));
        } else if !process.stays() {
            reaction.log(line);
        } else if is_final(settings.restart, status) {
            self.finished = self.finished.saturating_add(1);
            reaction.log(line);
        } else {
            if process.age(reaction.now) >= STEADY {
                self.backoff.succeed();
            }
            let delay = self.backoff.fail(reaction.now);
            reaction.log(line.milliseconds("next_try_ms", delay));
        }
        process.orphan(settings, reaction);
    }

    /// Forgets a process: neither it nor a descendant is left.
    pub(super) fn group_ended(&mut self, id: AppProcessId) {
        let is_over = |it: &AppProcess| matches!(it.stage, AppStage::Orphaned { .. });
        self.members.retain(|it| it.id != id || !is_over(it));
    }

    /// Records a reading of a process's memory and the number of its descendants.
    pub(super) fn record_memory(&mut self, reading: &AppReading, reaction: &mut Reaction) {
        let Some(process) = self.members.iter_mut().find(|it| it.id == reading.id) else {
            return;
        };
        let private = reading.private;
        let unshared = process.record_memory(reading);
        if !process.is_running() || process.is_heavy {
            return;
        }
        self.largest = self.largest.max(Some(private));
        let line = |line| process.identify(&self.settings.name, line);
        let limit = self.settings.memory.filter(|limit| private > *limit);
        if let Some(limit) = limit {
            let exceeded = line(LogLine::warn("process exceeds its memory"));
            reaction.log(exceeded.number("private", private).number("limit", limit));
        } else if reading.descendants > DESCENDANTS_LIMIT {
            let too_many = line(LogLine::warn("process has too many descendants"));
            reaction.log(
                too_many
                    .number("descendants", reading.descendants)
                    .number("limit", DESCENDANTS_LIMIT),
            );
        } else if let Some(unshared) = unshared.filter(|_| !process.is_unwanted) {
            let moves = line(LogLine::info("process moves to the new mold"));
            process.is_unwanted = true;
            return reaction.log(moves.number("unshared", unshared));
        } else {
            return;
        }
        process.is_heavy = true;
        // A process that is always too large is replaced with growing pauses.
        if process.age(reaction.now) < STEADY {
            self.backoff.fail(reaction.now);
        } else {
            self.backoff.succeed();
        }
    }

    /// Whether no process of this name runs, nor one that measures the load.
    pub(super) fn is_over(&self) -> bool {
        self.members.is_empty() && self.meter.process().is_none()
    }

    /// Whether all processes have ended, except processes that even SIGKILL does not end.
    pub(super) fn is_empty(&self, reaction: &Reaction) -> bool {
        let mut members = self.members.iter();
        members.all(|it| it.is_unkillable(reaction.now))
    }
}

fn is_final(policy: RestartPolicy, status: ExitStatus) -> bool {
    match policy {
        RestartPolicy::Always => false,
        RestartPolicy::OnFailure => status.is_success(),
        RestartPolicy::Never => true,
    }
}
