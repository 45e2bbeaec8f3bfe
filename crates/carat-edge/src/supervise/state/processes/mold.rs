use std::time::{Duration, Instant};

use crate::dispatch::WorkerId;
use crate::supervise::log_line::LogLine;
use crate::supervise::state::reaction::Reaction;

/// The process that loaded the application and forks workers.
#[derive(Debug)]
pub(crate) struct Mold {
    pub(crate) generation: u32,
    /// Known as soon as the process runs.
    pub(crate) pid: Option<u32>,
    pub(crate) started: Instant,
    /// Since when it can fork.
    pub(crate) is_ready: bool,
    /// Anonymous memory in bytes, when it was last read.
    pub(crate) anonymous: Option<u64>,
}

/// What the log calls a process that is no longer a worker and not yet a mold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FormerWorker {
    pub(crate) id: WorkerId,
    pub(crate) generation: u32,
}

impl Mold {
    pub(crate) fn started(generation: u32, pid: Option<u32>, now: Instant) -> Mold {
        Mold {
            generation,
            pid,
            started: now,
            is_ready: false,
            anonymous: None,
        }
    }

    /// Adds what identifies the mold to a log line.
    pub(crate) fn identify(&self, line: LogLine) -> LogLine {
        let line = line.number("gen", self.generation);
        match self.pid {
            Some(pid) => line.number("pid", pid),
            None => line,
        }
    }
    /// Sends SIGKILL, if the process runs.
    pub(crate) fn kill(&self, reaction: &mut Reaction) {
        reaction.kill(self.pid);
    }

    /// How long it has been booting, or took to boot.
    pub(crate) fn boot_time(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.started)
    }

    /// It can fork.
    pub(crate) fn set_ready(&mut self, reaction: &mut Reaction) {
        self.is_ready = true;
        let line = self.identify(LogLine::info("mold ready"));
        reaction.log(line.milliseconds("boot_ms", self.boot_time(reaction.now)));
    }
}
