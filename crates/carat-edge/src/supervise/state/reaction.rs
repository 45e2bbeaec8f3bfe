use std::time::Instant;

use crate::supervise::command::Command;
use crate::supervise::limits::Limits;
use crate::supervise::log_line::LogLine;

/// The reaction to one event: when, within which limits, and the commands so far.
#[derive(Debug)]
pub(super) struct Reaction {
    pub(super) now: Instant,
    pub(super) limits: Limits,
    pub(super) commands: Vec<Command>,
}

impl Reaction {
    pub(super) fn push(&mut self, command: Command) {
        self.commands.push(command);
    }

    pub(super) fn log(&mut self, line: LogLine) {
        self.commands.push(Command::Log(line));
    }
}
