use std::time::{Duration, Instant};

use crate::log_line::LogLine;
use crate::state::reaction::Reaction;
use carat_log::WorkerId;

/// The process that loaded the application and forks workers.
#[derive(Debug)]
pub struct Mold {
    pub generation: u32,
    /// The process id, known as soon as the process runs.
    pub pid: Option<u32>,
    pub started: Instant,
    /// Whether the mold can fork.
    pub is_ready: bool,
    /// Anonymous memory in bytes, when it was last read.
    pub anonymous: Option<u64>,
    /// Whether the mold has loaded the application itself. A mold that was promoted from a worker has not.
    pub has_booted: bool,
}

/// The name in the log of a process that is no longer a worker and not yet a mold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormerWorker {
    pub id: WorkerId,
    pub generation: u32,
}

impl Mold {
    pub fn started(generation: u32, pid: Option<u32>, now: Instant) -> Mold {
        Mold {
            generation,
            pid,
            started: now,
            is_ready: false,
            anonymous: None,
            has_booted: true,
        }
    }

    /// Adds what identifies the mold to a log line.
    pub fn identify(&self, line: LogLine) -> LogLine {
        let line = line.number("gen", self.generation);
        match self.pid {
            Some(pid) => line.number("pid", pid),
            None => line,
        }
    }
    /// Sends SIGKILL, if the process runs.
    pub fn kill(&self, reaction: &mut Reaction) {
        reaction.kill(self.pid);
    }

    /// How long the mold has been booting, or took to boot.
    pub fn boot_time(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.started)
    }

    /// Notes that the mold can fork workers from now on.
    pub fn set_ready(&mut self, reaction: &mut Reaction) {
        self.is_ready = true;
        let line = self.identify(LogLine::info("mold ready"));
        reaction.log(line.milliseconds("boot_ms", self.boot_time(reaction.now)));
    }
}
