use std::time::Instant;

use crate::supervise::log_line::LogLine;

/// The process that loaded the application and forks workers.
#[derive(Debug)]
pub(crate) struct Mold {
    pub(super) generation: u32,
    /// Known as soon as the process runs.
    pub(super) pid: Option<u32>,
    pub(super) started: Instant,
    /// Since when it can fork.
    pub(super) is_ready: bool,
    /// Anonymous memory in bytes, when it was last read.
    pub(super) anonymous: Option<u64>,
}

impl Mold {
    pub(super) fn started(generation: u32, pid: Option<u32>, now: Instant) -> Mold {
        Mold {
            generation,
            pid,
            started: now,
            is_ready: false,
            anonymous: None,
        }
    }

    /// Adds what identifies the mold to a log line.
    pub(super) fn identify(&self, line: LogLine) -> LogLine {
        let line = line.number("gen", self.generation);
        match self.pid {
            Some(pid) => line.number("pid", pid),
            None => line,
        }
    }
}
