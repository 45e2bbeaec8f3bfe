use std::time::{Duration, Instant};

use carat_policy::{MemoryTrend, ReplacementReason, WorkerLoad};

use super::reaction::Reaction;
use super::worker_stage::WorkerStage;
use crate::dispatch::WorkerId;
use crate::supervise::command::Command;
use crate::supervise::log_line::LogLine;
use crate::supervise::ruby_process::RubyProcess;

/// A worker as the supervisor knows it.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(super) id: WorkerId,
    pub(super) generation: u32,
    /// Known once the worker said hello.
    pub(super) pid: Option<u32>,
    pub(super) boot: WorkerBoot,
    pub(super) stage: WorkerStage,
    pub(super) forked: Instant,
    pub(super) ready_since: Option<Instant>,
    /// How many requests it was given.
    pub(super) requests: u64,
    /// How many of them before the current mold took over.
    pub(super) requests_before: u64,
    /// Whether it was at its limit of open files.
    pub(super) lost_descriptors: bool,
    /// How long it has had no request.
    pub(super) idle: Duration,
    /// How many requests it had been given when it last returned its free memory.
    pub(super) requests_at_trim: u64,
    /// How many connections its application has taken over.
    pub(super) tunnels: usize,
    pub(super) role: WorkerRole,
    /// It closed a lane, perhaps before it was known to be ready.
    pub(super) has_lost_lane: bool,
    /// Why it ends once its successor serves.
    pub(super) replacement: Option<ReplacementReason>,
    /// `None` until its memory was read after it became ready.
    pub(super) memory: Option<WorkerMemory>,
}

/// What a worker is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkerRole {
    Regular,
    /// It is the first of a new mold, and gets no request before it was checked.
    Trial,
    /// It runs the new code of a restart that waits, or waited until the code was given up.
    Canary,
}

/// How far a worker's boot has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkerBoot {
    Pending,
    /// The log says why.
    Failed,
    Done,
}

/// The memory of a worker that is ready.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WorkerMemory {
    pub(super) private: MemoryTrend,
    /// Whether it had served enough requests that it will hardly grow.
    pub(super) is_grown: bool,
}

impl Worker {
    pub(super) fn forked(id: WorkerId, generation: u32, reaction: &Reaction) -> Worker {
        Worker {
            id,
            generation,
            pid: None,
            boot: WorkerBoot::Pending,
            stage: WorkerStage::Booting {
                deadline: reaction.now + reaction.limits.boot_timeout,
            },
            forked: reaction.now,
            ready_since: None,
            requests: 0,
            requests_before: 0,
            lost_descriptors: false,
            idle: Duration::ZERO,
            requests_at_trim: 0,
            tunnels: 0,
            role: WorkerRole::Regular,
            has_lost_lane: false,
            replacement: None,
            memory: None,
        }
    }

    /// Adds what identifies the worker to a log line.
    pub(super) fn identify(&self, line: LogLine) -> LogLine {
        let line = line
            .number("worker", self.id.number)
            .number("gen", self.generation);
        match self.pid {
            Some(pid) => line.number("pid", pid),
            None => line,
        }
    }

    /// How many requests it was given since the current mold took over.
    pub(super) fn requests_since_takeover(&self) -> u64 {
        self.requests.saturating_sub(self.requests_before)
    }

    /// Whether it ends to become the mold.
    pub(super) fn is_promoted(&self) -> bool {
        self.replacement == Some(ReplacementReason::Promotion)
    }

    /// It does not become the mold. It still ends if it is draining already.
    pub(super) fn forgo_promotion(&mut self) {
        if self.is_promoted() {
            self.replacement = None;
        }
    }

    /// Private memory in bytes; 0 when unknown.
    pub(super) fn private(&self) -> u64 {
        self.memory.map_or(0, |memory| memory.private.bytes)
    }

    pub(super) fn load(&self) -> WorkerLoad {
        WorkerLoad {
            private: self.memory.map(|memory| memory.private.bytes),
            is_grown: self.memory.is_some_and(|memory| memory.is_grown),
        }
    }

    /// How long it has served.
    pub(super) fn age(&self, now: Instant) -> Duration {
        let since = self.ready_since.unwrap_or(now);
        now.saturating_duration_since(since)
    }

    pub(super) fn is_booting(&self) -> bool {
        matches!(self.stage, WorkerStage::Booting { .. })
    }

    /// Whether it takes requests.
    pub(super) fn is_ready(&self) -> bool {
        self.stage == WorkerStage::Ready
    }

    /// Whether it serves, or is about to, and is neither being replaced nor of code that has yet to take over.
    pub(super) fn stays(&self) -> bool {
        (self.is_booting() || self.is_ready())
            && self.replacement.is_none()
            && self.role == WorkerRole::Regular
    }

    pub(super) fn is_trial(&self) -> bool {
        self.role == WorkerRole::Trial
    }

    pub(super) fn is_canary(&self) -> bool {
        self.role == WorkerRole::Canary
    }

    /// Whether its main thread reads its control socket.
    pub(super) fn listens(&self) -> bool {
        self.boot == WorkerBoot::Done && !self.stage.is_last()
    }

    /// Gives it no more requests; it ends when its lanes are empty, or at the deadline.
    pub(super) fn drain(&mut self, deadline: Instant, reaction: &mut Reaction) {
        self.stage = WorkerStage::Retiring { deadline };
        reaction.push(Command::Drain(self.id));
    }

    /// Drains it because the server stops. One that was draining before has as long as the others, and may be empty by
    /// now.
    pub(super) fn end_with_server(&mut self, deadline: Instant, reaction: &mut Reaction) {
        if self.is_ready() {
            reaction.log(self.identify(LogLine::info("worker ends with the server")));
        }
        if self.stage.is_last() {
            return;
        }
        self.drain(deadline, reaction);
    }

    /// Tells it to end without waiting for its requests.
    pub(super) fn end_now(&self, reaction: &mut Reaction) {
        reaction.push(Command::EndNow(self.id));
    }

    /// Tells it to end.
    pub(super) fn end(&self, reaction: &mut Reaction) {
        reaction.push(Command::End(RubyProcess::Worker(self.id)));
    }
}
