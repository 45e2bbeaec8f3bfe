use std::time::Duration;

use carat_policy::Backoff;
use carat_settings::{ProcessSettings, RestartPolicy};

use super::app_process::{AppProcess, AppStage};
use crate::command::{AppCommand, Command};
use crate::exit_status::ExitStatus;
use crate::log_line::LogLine;
use crate::ruby_process::{AppProcessId, RubyProcess};
use crate::state::reaction::{KILL_AFTER, Reaction};

/// A process that ran this long did not fail at its start: the next one starts without a longer pause.
const STEADY: Duration = Duration::from_secs(30);

/// What forks processes now.
#[derive(Debug, Clone, Copy)]
pub(super) struct ForkOrigin {
    /// The generation of the mold.
    pub(super) generation: u32,
    /// Processes of older generations run old code.
    pub(super) oldest_generation: u32,
}

/// A `process` of the config file, and those that run.
#[derive(Debug)]
pub(super) struct Declaration {
    pub(super) settings: ProcessSettings,
    /// Whether the current code declares it.
    pub(super) is_declared: bool,
    /// How many should run.
    pub(super) wanted: u32,
    /// How many have ended that nothing follows (`restart`).
    finished: u32,
    backoff: Backoff,
    pub(super) members: Vec<AppProcess>,
}

impl Declaration {
    pub(super) fn new(settings: ProcessSettings) -> Declaration {
        Declaration {
            is_declared: true,
            wanted: settings.count,
            settings,
            finished: 0,
            backoff: Backoff::default(),
            members: Vec::new(),
        }
    }

    /// New code has taken over, with these settings; `None` if it does not declare the process any more.
    pub(super) fn adopt(&mut self, settings: Option<ProcessSettings>) {
        self.finished = 0;
        self.backoff.succeed();
        self.is_declared = settings.is_some();
        if let Some(settings) = settings {
            if settings.count != self.settings.count {
                self.wanted = settings.count;
            }
            self.settings = settings;
        }
    }

    /// So many are to run, ended ones included.
    pub(super) fn scale(&mut self, count: u32) {
        (self.wanted, self.finished) = (count, 0);
        self.backoff.succeed();
    }

    /// How many should run now.
    fn target(&self) -> u32 {
        let wanted = if self.is_declared { self.wanted } else { 0 };
        wanted.saturating_sub(self.finished)
    }

    pub(super) fn get_mut(&mut self, id: AppProcessId) -> Option<&mut AppProcess> {
        self.members.iter_mut().find(|it| it.id == id)
    }

    /// Ends what is overdue, replaced, or too much. `origin` is `None` while none is to run.
    pub(super) fn advance(&mut self, origin: Option<ForkOrigin>, reaction: &mut Reaction) {
        self.end_overdue(reaction);
        let Some(origin) = origin else {
            return self.end_surplus(0, "process ends with the server", reaction);
        };
        let is_old = |it: &AppProcess| it.is_heavy || it.generation < origin.oldest_generation;
        let target = self.target();
        let new = |it: &&AppProcess| it.is_running() && !is_old(it);
        let has_successors = self.members.iter().filter(new).count() >= target as usize;
        let settings = &self.settings;
        for old in self.members.iter_mut().filter(|it| is_old(it)) {
            if has_successors || !settings.overlap {
                old.end(settings, "process is replaced", reaction);
            }
        }
        self.end_surplus(target, "surplus process ends", reaction);
    }

    /// Ends the newest of those that are too many, of which old ones that overlap do not count.
    fn end_surplus(&mut self, target: u32, message: &'static str, reaction: &mut Reaction) {
        let most = match (target, self.settings.overlap) {
            (0, _) | (_, false) => target,
            (_, true) => target.saturating_mul(2),
        };
        let staying = self.members.iter_mut().filter(|it| it.stays());
        for process in staying.skip(most as usize) {
            process.end(&self.settings, message, reaction);
        }
    }

    /// Whether one more is to be forked. One that has not ended yet counts, unless they overlap.
    pub(super) fn lacks(&self, origin: ForkOrigin, reaction: &Reaction) -> bool {
        let is_new = |it: &&AppProcess| {
            it.stays() && !it.is_heavy && it.generation >= origin.oldest_generation
        };
        let target = self.target() as usize;
        let is_free = if self.settings.overlap {
            let new = self.members.iter().filter(is_new).count();
            new < target && self.members.len() < 2 * target
        } else {
            self.members.len() < target
        };
        is_free && self.backoff.allows(reaction.now)
    }

    pub(super) fn fork(&mut self, id: AppProcessId, origin: ForkOrigin, reaction: &mut Reaction) {
        let is_free = |number: &u32| self.members.iter().all(|it| it.number != *number);
        let number = (1..=u32::MAX).find(is_free).unwrap_or(u32::MAX);
        let generation = origin.generation;
        let process = AppProcess::forked(id, number, generation, reaction);
        self.members.push(process);
        reaction.push(Command::App(AppCommand::Fork {
            id,
            name: self.settings.name.clone(),
            number,
            generation,
        }));
    }

    fn end_overdue(&mut self, reaction: &mut Reaction) {
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
            _ => false,
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

    /// It can do its work.
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

    /// It has not started, and never will.
    pub(super) fn lose(&mut self, id: AppProcessId, cause: &str, reaction: &mut Reaction) {
        let Some(index) = self.members.iter().position(|it| it.id == id) else {
            return;
        };
        let process = self.members.remove(index);
        reaction.push(Command::CloseControl(RubyProcess::App(id)));
        if process.stays() {
            let delay = self.backoff.fail(reaction.now);
            let line = LogLine::error("process failed to boot");
            let line = process.identify(&self.settings.name, line);
            reaction.log(line.text("cause", cause).milliseconds("next_try_ms", delay));
        }
    }

    /// Its process has ended; its descendants may not have.
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
        let line = process.exit_line(settings, status, is_oom);
        if !process.stays() {
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

    /// Neither it nor a descendant is left.
    pub(super) fn group_ended(&mut self, id: AppProcessId) {
        let is_over = |it: &AppProcess| matches!(it.stage, AppStage::Orphaned { .. });
        self.members.retain(|it| it.id != id || !is_over(it));
    }

    /// Its private memory was read.
    pub(super) fn weigh(&mut self, id: AppProcessId, private: u64, reaction: &mut Reaction) {
        let (name, limit) = (self.settings.name.clone(), self.settings.memory);
        let Some(process) = self.get_mut(id) else {
            return;
        };
        process.private = Some(private);
        let limit = limit.filter(|limit| process.is_running() && private > *limit);
        if let Some(limit) = limit.filter(|_| !process.is_heavy) {
            process.is_heavy = true;
            let line = LogLine::warn("process exceeds its memory");
            let line = process.identify(&name, line).number("private", private);
            reaction.log(line.number("limit", limit));
        }
    }

    /// Whether all have ended, or cannot be killed.
    pub(super) fn is_empty(&self, reaction: &Reaction) -> bool {
        let is_left = |it: &AppProcess| match it.stage {
            AppStage::Killed { deadline } => reaction.now < deadline + KILL_AFTER,
            _ => true,
        };
        !self.members.iter().any(is_left)
    }
}

fn is_final(policy: RestartPolicy, status: ExitStatus) -> bool {
    match policy {
        RestartPolicy::Always => false,
        RestartPolicy::OnFailure => status.is_success(),
        RestartPolicy::Never => true,
    }
}
