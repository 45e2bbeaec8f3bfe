use std::time::{Duration, Instant};

use crate::supervise::command::{Command, Outcome};
use crate::supervise::limits::Limits;
use crate::supervise::log_line::LogLine;

/// How long a process has from SIGTERM to SIGKILL, and its hooks at least.
pub(crate) const KILL_AFTER: Duration = Duration::from_secs(2);

/// The reaction to one event: when, within which limits, and the commands so far.
#[derive(Debug)]
pub(crate) struct Reaction {
    pub(crate) now: Instant,
    pub(crate) limits: Limits,
    pub(crate) commands: Vec<Command>,
}

impl Reaction {
    pub(crate) fn push(&mut self, command: Command) {
        self.commands.push(command);
    }

    pub(crate) fn log(&mut self, line: LogLine) {
        self.commands.push(Command::Log(line));
    }

    /// Sends SIGKILL to a process that runs.
    pub(crate) fn kill(&mut self, pid: Option<u32>) {
        self.commands.extend(pid.map(|pid| Command::Kill { pid }));
    }

    /// The server cannot go on.
    pub(crate) fn fail(&mut self, cause: String) {
        self.push(Command::Exit(Outcome::Failed(cause)));
    }

    /// Whether the server is over.
    pub(crate) fn is_over(&self) -> bool {
        let mut commands = self.commands.iter();
        commands.any(|command| matches!(command, Command::Exit(_)))
    }
}
