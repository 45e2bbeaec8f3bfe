//! The further processes that the application declares (`process` of the config file): how many run, when one is
//! replaced, and how it ends.

mod app_process;
mod declaration;

use std::time::{Duration, Instant};

use carat_settings::ProcessSettings;
use rustix::process::Signal;

use self::app_process::AppProcess;
use self::declaration::{Declaration, ForkOrigin};
use super::processes::running_process::RunningProcess;
use super::reaction::Reaction;
use crate::command::{AppCommand, Command};
use crate::exit_status::ExitStatus;
use crate::log_line::LogLine;
use crate::role::Role;
use crate::ruby_process::{AppProcessId, RubyProcess};

/// Those that are declared, and those that run.
#[derive(Debug)]
pub struct AppProcesses {
    declarations: Vec<Declaration>,
    /// How many were forked.
    serial: u64,
    oldest_generation: u32,
    /// The server before this one runs its own.
    waits_for_predecessor: bool,
    /// All are to end.
    is_ending: bool,
}

/// What `carat status` shows of one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields are named after what they hold")]
pub struct AppProcessStatus {
    pub name: String,
    pub number: u32,
    pub generation: u32,
    pub pid: Option<u32>,
    pub stage: &'static str,
    /// How long it has run.
    pub age: Duration,
    /// Private memory, with that of its descendants, when it was last read.
    pub private: Option<u64>,
}

impl AppProcesses {
    pub(super) fn new(settings: Vec<ProcessSettings>) -> AppProcesses {
        AppProcesses {
            declarations: settings.into_iter().map(Declaration::new).collect(),
            serial: 0,
            oldest_generation: 0,
            waits_for_predecessor: false,
            is_ending: false,
        }
    }

    /// What is declared.
    pub(super) fn settings(&self) -> Vec<ProcessSettings> {
        let declared = self.declarations.iter().filter(|it| it.is_declared);
        declared.map(|it| it.settings.clone()).collect()
    }

    /// The mold of this generation has new code, which declares these: those of older ones are replaced.
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

    /// The names of those that are declared, and how many should run.
    pub fn wanted(&self) -> Vec<(String, u32)> {
        let declared = self.declarations.iter().filter(|it| it.is_declared);
        declared
            .map(|it| (it.settings.name.clone(), it.wanted))
            .collect()
    }

    /// So many of this name are to run, also after a restart, until the config file has another number.
    pub(super) fn scale(&mut self, name: &str, count: u32, reaction: &mut Reaction) {
        let mut declarations = self.declarations.iter_mut();
        if let Some(declaration) = declarations.find(|it| it.settings.name == name) {
            declaration.scale(count);
            let line = LogLine::info("processes scaled").text("process", name);
            reaction.log(line.number("count", count));
        }
    }

    /// The server before this one still runs its own.
    pub(super) fn await_predecessor(&mut self) {
        self.waits_for_predecessor = true;
    }

    /// The server before this one runs none any more.
    pub(super) fn predecessor_ended(&mut self) {
        self.waits_for_predecessor = false;
    }

    /// Whether all are to end from now on.
    pub(super) fn set_ending(&mut self, is_ending: bool) {
        self.is_ending = is_ending;
    }

    /// Whether none runs, and none will.
    pub fn are_over(&self) -> bool {
        self.is_ending && self.declarations.iter().all(|it| it.members.is_empty())
    }

    /// Whether none is left that could end.
    pub(super) fn is_empty(&self, reaction: &Reaction) -> bool {
        let mut declarations = self.declarations.iter();
        declarations.all(|it| it.is_empty(reaction))
    }

    /// Ends and starts what is to end and start. `generation` is that of a mold that can fork, once the server serves.
    pub(super) fn advance(&mut self, generation: Option<u32>, reaction: &mut Reaction) {
        // Old code ends before the mold of the new code is known to work on.
        let origin = ForkOrigin {
            generation: generation.unwrap_or_default(),
            oldest_generation: self.oldest_generation,
        };
        let origin = Some(origin).filter(|_| !self.is_ending);
        for declaration in &mut self.declarations {
            declaration.advance(origin, reaction);
        }
        self.declarations
            .retain(|it| it.is_declared || !it.members.is_empty());
        if let (Some(origin), Some(_), false) = (origin, generation, self.waits_for_predecessor) {
            self.fork_missing(origin, reaction);
        }
    }

    fn fork_missing(&mut self, origin: ForkOrigin, reaction: &mut Reaction) {
        for declaration in &mut self.declarations {
            while declaration.lacks(origin, reaction) {
                self.serial += 1;
                declaration.fork(AppProcessId(self.serial), origin, reaction);
            }
        }
    }

    fn of(&mut self, id: AppProcessId) -> Option<&mut Declaration> {
        let mut declarations = self.declarations.iter_mut();
        declarations.find(|it| it.members.iter().any(|process| process.id == id))
    }

    fn members(&self) -> impl Iterator<Item = (&ProcessSettings, &AppProcess)> {
        let declarations = self.declarations.iter();
        declarations.flat_map(|it| it.members.iter().map(|process| (&it.settings, process)))
    }

    /// The process with this id.
    pub(super) fn with_pid(&self, pid: u32) -> Option<AppProcessId> {
        let mut members = self.members();
        // A group whose first process has ended keeps its number, which no new process gets meanwhile.
        members.find_map(|(_, it)| (it.pid == Some(pid)).then_some(it.id))
    }

    /// It said hello. False if it is not known any more.
    pub(super) fn hello(&mut self, id: AppProcessId, pid: u32, reaction: &mut Reaction) {
        let process = self.of(id).and_then(|it| it.get_mut(id));
        if let Some(process) = process {
            process.pid = Some(pid);
            if !process.stays() {
                process.kill(reaction);
            }
        }
    }

    /// It runs the application's block.
    pub(super) fn ready(&mut self, id: AppProcessId, reaction: &mut Reaction) {
        if let Some(declaration) = self.of(id) {
            declaration.ready(id, reaction);
        }
    }

    /// It, or the mold on its behalf, says why it ends.
    pub(super) fn failed(&mut self, id: AppProcessId, cause: &str, reaction: &mut Reaction) {
        let Some(declaration) = self.of(id) else {
            return;
        };
        match declaration.get_mut(id) {
            Some(process) if process.pid.is_some() => process.cause = Some(cause.to_owned()),
            _ => declaration.lose(id, cause, reaction),
        }
    }

    /// Its control socket is closed: it runs a command, ends, or was never forked.
    pub(super) fn closed(&mut self, id: AppProcessId, reaction: &mut Reaction) {
        let Some(declaration) = self.of(id) else {
            return;
        };
        let is_new = |process: &mut AppProcess| process.pid.is_none();
        if declaration.get_mut(id).is_some_and(is_new) {
            declaration.lose(id, "the mold ended before it forked it", reaction);
        }
    }

    /// Its process has ended.
    pub(super) fn exited(
        &mut self,
        id: AppProcessId,
        status: ExitStatus,
        is_oom: bool,
        reaction: &mut Reaction,
    ) {
        if let Some(declaration) = self.of(id) {
            declaration.exited(id, status, is_oom, reaction);
        }
    }

    /// Neither it nor a descendant is left.
    pub(super) fn group_ended(&mut self, id: AppProcessId) {
        if let Some(declaration) = self.of(id) {
            declaration.group_ended(id);
        }
    }

    /// The memory of some was read.
    pub(super) fn weigh(&mut self, apps: &[(AppProcessId, u64)], reaction: &mut Reaction) {
        for (id, private) in apps {
            if let Some(declaration) = self.of(*id) {
                declaration.weigh(*id, *private, reaction);
            }
        }
    }

    /// Those whose memory is read, with the process ids of their groups.
    pub(super) fn groups(&self) -> Vec<(AppProcessId, u32)> {
        let members = self.members();
        members
            .filter_map(|(_, it)| Some((it.id, it.pid?)))
            .collect()
    }

    /// Those whose ids are known, with their names and numbers.
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

    /// What `carat status` shows.
    pub fn statuses(&self, now: Instant) -> impl Iterator<Item = AppProcessStatus> {
        self.members().map(move |(settings, it)| AppProcessStatus {
            name: settings.name.clone(),
            number: it.number,
            generation: it.generation,
            pid: it.pid,
            stage: it.stage_name(),
            age: it.age(now),
            private: it.private,
        })
    }

    /// How long the slowest may take to end; `default` for those that do not say.
    pub(super) fn stop_timeout(&self, default: Duration) -> Duration {
        let timeouts = self.members().map(|(settings, _)| settings.stop_timeout);
        timeouts
            .map(|it| it.unwrap_or(default))
            .max()
            .unwrap_or_default()
    }

    /// Kills all, and forgets none: the server is over.
    pub(super) fn kill_all(&self, reaction: &mut Reaction) {
        for (id, pid) in self.groups() {
            let signal = Signal::KILL.as_raw();
            reaction.push(Command::App(AppCommand::SignalGroup { id, pid, signal }));
        }
    }
}
