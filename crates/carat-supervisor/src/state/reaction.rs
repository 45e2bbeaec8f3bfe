use std::time::{Duration, Instant};

use crate::command::{Command, Outcome};
use crate::limits::Limits;
use crate::log_line::LogLine;

/// How long a process has from SIGTERM to SIGKILL. In a stop, its hooks have at least as long.
pub(super) const KILL_AFTER: Duration = Duration::from_secs(2);

/// The reaction to one event: its time, the limits, and the commands so far.
pub struct Reaction {
    pub now: Instant,
    pub limits: Limits,
    pub commands: Vec<Command>,
}

impl Reaction {
    pub fn push(&mut self, command: Command) {
        self.commands.push(command);
    }

    pub fn log(&mut self, line: LogLine) {
        self.commands.push(Command::Log(line));
    }

    /// Sends SIGKILL to a process that runs.
    pub fn kill(&mut self, pid: Option<u32>) {
        self.commands.extend(pid.map(|pid| Command::Kill { pid }));
    }

    /// Ends the server, because it has failed.
    pub fn fail(&mut self, cause: String) {
        self.push(Command::Exit(Outcome::Failed(cause)));
    }

    /// Whether one of the commands ends the server.
    pub fn is_over(&self) -> bool {
        let mut commands = self.commands.iter();
        commands.any(|command| matches!(command, Command::Exit(_)))
    }
}
