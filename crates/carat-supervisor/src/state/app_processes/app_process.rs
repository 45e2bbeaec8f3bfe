use std::time::{Duration, Instant};

use carat_settings::ProcessSettings;
use rustix::process::Signal;

use crate::command::{AppCommand, Command};
use crate::exit_status::ExitStatus;
use crate::log_line::LogLine;
use crate::reading::AppReading;
use crate::ruby_process::{AppProcessId, RubyProcess};
use crate::state::reaction::{KILL_AFTER, Reaction};

/// A process that shares this many bytes less after a refork moves to the new mold. That frees the pages of the old
/// mold.
const REFORK_GAIN: u64 = 8 << 20;

/// A further process of the application as the supervisor knows it.
#[derive(Debug)]
pub(super) struct AppProcess {
    pub(super) id: AppProcessId,
    /// The process's number among the processes of its name, from 1.
    pub(super) number: u32,
    pub(super) generation: u32,
    /// The process id, known once the process said hello; its process group has the same id.
    pub(super) pid: Option<u32>,
    pub(super) stage: AppStage,
    pub(super) running_since: Option<Instant>,
    /// When the process, or its descendants, got the first SIGKILL.
    killed_at: Option<Instant>,
    /// The private memory of the process and its descendants when it was last read.
    pub(super) private: Option<u64>,
    /// How much more memory the process would take if it shared none, when that was last read.
    saved: Option<u64>,
    /// The value of `saved` when a refork left the process on the pages of an older mold.
    saved_before: Option<u64>,
    /// How many descendants of the process ran when they were last counted.
    pub(super) descendants: u32,
    /// Whether the process is to be replaced because it takes too much, even if no other of its name runs.
    pub(super) is_heavy: bool,
    /// Whether the process is to be replaced because a user asked for that, or because it moves to a new mold.
    pub(super) is_unwanted: bool,
    /// Why the process ends, in its own words.
    pub(super) cause: Option<String>,
}

/// Where a process is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AppStage {
    /// Forked; killed unless ready before the deadline.
    Booting { deadline: Instant },
    /// Runs the application's block.
    Running,
    /// Told to end, or not wanted before it said hello; killed at the deadline.
    Ending { deadline: Instant },
    /// Killed; killed again at the deadline.
    Killed { deadline: Instant },
    /// The process has ended, and its descendants were told to end; they are killed at the deadline.
    Orphaned { deadline: Instant },
}

impl AppProcess {
    pub(super) fn forked(
        id: AppProcessId,
        number: u32,
        generation: u32,
        reaction: &Reaction,
    ) -> AppProcess {
        AppProcess {
            id,
            number,
            generation,
            pid: None,
            stage: AppStage::Booting {
                deadline: reaction.now + reaction.limits.boot_timeout,
            },
            running_since: None,
            killed_at: None,
            private: None,
            saved: None,
            saved_before: None,
            descendants: 0,
            is_heavy: false,
            is_unwanted: false,
            cause: None,
        }
    }

    /// The command that asks the mold to fork the process.
    pub(super) fn fork_command(&self, settings: &ProcessSettings) -> Command {
        Command::App(AppCommand::Fork {
            id: self.id,
            name: settings.name.clone(),
            number: self.number,
            generation: self.generation,
        })
    }

    /// Adds what identifies the process to a log line.
    pub(super) fn identify(&self, name: &str, line: LogLine) -> LogLine {
        let line = line.text("process", name).number("number", self.number);
        let line = line.number("gen", self.generation);
        match self.pid {
            Some(pid) => line.number("pid", pid),
            None => line,
        }
    }

    /// Whether the process boots or runs, and was not told to end.
    pub(super) fn stays(&self) -> bool {
        matches!(self.stage, AppStage::Booting { .. } | AppStage::Running)
    }

    pub(super) fn is_running(&self) -> bool {
        self.stage == AppStage::Running
    }

    /// Whether another process is to take the place of this one. Processes of older generations than
    /// `oldest_generation` run old code.
    pub(super) fn is_replaced(&self, oldest_generation: u32) -> bool {
        self.is_heavy || self.is_unwanted || self.generation < oldest_generation
    }

    /// How long the process has run the application's block.
    pub(super) fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.running_since.unwrap_or(now))
    }

    /// The stage as users read it.
    pub(super) fn stage_name(&self) -> &'static str {
        match self.stage {
            AppStage::Booting { .. } => "booting",
            AppStage::Running => "running",
            AppStage::Ending { .. } => "ending",
            AppStage::Killed { .. } => "killed",
            AppStage::Orphaned { .. } => "ending descendants",
        }
    }

    /// Notes that a worker has become the mold. The old mold, whose pages this process shares, ends.
    pub(super) fn begin_refork(&mut self) {
        self.saved_before = self.saved_before.or(self.saved);
    }

    /// Records a memory reading. Returns how much less the process shares since a refork, once that justifies its
    /// replacement.
    pub(super) fn record_memory(&mut self, reading: &AppReading) -> Option<u64> {
        self.private = Some(reading.private);
        self.saved = Some(reading.saved);
        self.descendants = reading.descendants;
        let lost = self.saved_before?.saturating_sub(reading.saved);
        (lost >= REFORK_GAIN).then_some(lost)
    }

    /// Tells the process to end. A process that has not begun the application's block is killed, because it has nothing
    /// to finish.
    pub(super) fn end(
        &mut self,
        settings: &ProcessSettings,
        message: &'static str,
        reaction: &mut Reaction,
    ) {
        match (self.stage, self.pid) {
            (AppStage::Running, Some(pid)) => {
                let deadline = reaction.now + stop_timeout(settings, reaction);
                reaction.log(self.identify(&settings.name, LogLine::info(message)));
                let (id, signal) = (self.id, settings.stop_signal);
                reaction.push(if settings.is_command {
                    Command::App(AppCommand::SignalGroup { id, pid, signal })
                } else {
                    Command::App(AppCommand::Signal { pid, signal })
                });
                self.stage = AppStage::Ending { deadline };
            }
            // The process has no known process id. It is killed as soon as it says hello.
            (AppStage::Booting { .. }, None) => {
                let deadline = reaction.now + KILL_AFTER;
                self.stage = AppStage::Ending { deadline };
            }
            (AppStage::Booting { .. }, Some(_)) => self.kill(reaction),
            (
                AppStage::Running
                | AppStage::Ending { .. }
                | AppStage::Killed { .. }
                | AppStage::Orphaned { .. },
                _,
            ) => {}
        }
    }

    /// Sends SIGKILL to the process and its descendants.
    pub(super) fn kill(&mut self, reaction: &mut Reaction) {
        self.killed_at.get_or_insert(reaction.now);
        if let Some(pid) = self.pid {
            reaction.push(Command::App(AppCommand::SignalGroup {
                id: self.id,
                pid,
                signal: Signal::KILL.as_raw(),
            }));
        }
        self.stage = match self.stage {
            AppStage::Orphaned { .. } => AppStage::Orphaned {
                deadline: reaction.now + KILL_AFTER,
            },
            AppStage::Booting { .. }
            | AppStage::Running
            | AppStage::Ending { .. }
            | AppStage::Killed { .. } => AppStage::Killed {
                deadline: reaction.now + KILL_AFTER,
            },
        };
    }

    /// Tells the descendants of a process that has ended to end. They are killed when the time of the process itself is
    /// over.
    pub(super) fn orphan(&mut self, settings: &ProcessSettings, reaction: &mut Reaction) {
        let is_killed = matches!(self.stage, AppStage::Killed { .. });
        let kill = Signal::KILL.as_raw();
        let signal = if is_killed {
            kill
        } else {
            settings.stop_signal
        };
        let deadline = match self.stage {
            AppStage::Ending { deadline } | AppStage::Killed { deadline } => deadline,
            AppStage::Booting { .. } | AppStage::Running | AppStage::Orphaned { .. } => {
                reaction.now + stop_timeout(settings, reaction)
            }
        };
        self.stage = AppStage::Orphaned { deadline };
        reaction.push(Command::CloseControl(RubyProcess::App(self.id)));
        if let Some(pid) = self.pid {
            let id = self.id;
            reaction.push(Command::App(AppCommand::SignalGroup { id, pid, signal }));
        }
    }

    /// Whether the process is left although it was killed: the kernel does not let it end.
    pub(super) fn is_unkillable(&self, now: Instant) -> bool {
        self.killed_at.is_some_and(|at| now >= at + 2 * KILL_AFTER)
    }

    /// Kills the process when its time is over. If the process has ended, the executor is asked whether descendants are
    /// left.
    pub(super) fn end_overdue(&mut self, settings: &ProcessSettings, reaction: &mut Reaction) {
        let (deadline, is_orphaned) = match self.stage {
            AppStage::Ending { deadline } | AppStage::Killed { deadline } => (deadline, false),
            AppStage::Orphaned { deadline } => (deadline, true),
            AppStage::Booting { .. } | AppStage::Running => return,
        };
        let Some(pid) = self.pid else {
            return;
        };
        if reaction.now >= deadline {
            let line = self.identify(&settings.name, LogLine::warn("killing process"));
            let line = line.number("private", self.private.unwrap_or_default());
            let who = if is_orphaned { "a descendant" } else { "it" };
            reaction.log(line.text("cause", format!("{who} did not end within stop_timeout")));
            self.kill(reaction);
        } else if is_orphaned {
            let (id, signal) = (self.id, 0);
            reaction.push(Command::App(AppCommand::SignalGroup { id, pid, signal }));
        }
    }

    /// The log line of the exit of the process.
    pub(super) fn exit_line(
        &self,
        settings: &ProcessSettings,
        status: ExitStatus,
        is_oom: bool,
    ) -> LogLine {
        let line = match self.stage {
            AppStage::Running if is_oom => LogLine::warn("process was killed by the OOM killer"),
            AppStage::Running if !status.is_success() => LogLine::error("process died"),
            AppStage::Booting { .. } => LogLine::error("process failed to boot"),
            AppStage::Running
            | AppStage::Ending { .. }
            | AppStage::Killed { .. }
            | AppStage::Orphaned { .. } => LogLine::info("process ended"),
        };
        let line = self.identify(&settings.name, line);
        match &self.cause {
            Some(cause) => line.text("cause", cause),
            None => line.text("cause", status),
        }
    }
}

/// How long a process has from its stop signal to SIGKILL.
pub(super) fn stop_timeout(settings: &ProcessSettings, reaction: &Reaction) -> Duration {
    settings
        .stop_timeout
        .unwrap_or(reaction.limits.shutdown_timeout)
}
