use std::cmp::Reverse;
use std::time::{Duration, Instant};

use carat_policy::{MemoryTrend, ReplacementReason, WorkerLoad};

use super::worker_collection::WorkerCollection;
use super::worker_stage::WorkerStage;
use crate::command::{Command, WorkerCommand};
use crate::exit_status::ExitStatus;
use crate::log_line::LogLine;
use crate::reading::StackReport;
use crate::ruby_process::RubyProcess;
use crate::state::reaction::{KILL_AFTER, Reaction};
use carat_log::{LaneTag, WorkerId};

/// How long a stuck worker has to report its stack.
const STACK_WAIT: Duration = Duration::from_secs(1);

/// A worker as the supervisor knows it.
#[derive(Debug)]
pub struct Worker {
    pub id: WorkerId,
    pub generation: u32,
    /// The process id, known once the worker said hello.
    pub pid: Option<u32>,
    pub boot: WorkerBoot,
    pub stage: WorkerStage,
    pub forked: Instant,
    pub ready_since: Option<Instant>,
    /// How many requests the worker was given.
    pub requests: u64,
    /// How many of these requests were given before the current mold took over.
    pub requests_before: u64,
    /// Whether the worker once could not open the descriptors of a request.
    pub lost_descriptors: bool,
    /// How long the worker has had no request.
    pub idle: Duration,
    /// How many requests the worker had been given when it last returned its free memory.
    pub requests_at_trim: u64,
    /// How many tunnels the worker has.
    pub tunnels: usize,
    /// Whether the edge tells the worker when to collect its garbage.
    pub collects: bool,
    pub collection: WorkerCollection,
    pub role: WorkerRole,
    /// Whether the worker closed a lane, perhaps before it was known to be ready.
    pub has_lost_lane: bool,
    /// Why the worker ends when its successor serves; `None` if it is not to be replaced.
    pub replacement: Option<ReplacementReason>,
    /// The memory of the worker; `None` until it was read after the worker became ready.
    pub memory: Option<WorkerMemory>,
}

/// The role of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerRole {
    Regular,
    /// The first worker of a new mold. It gets no request before it has passed a check.
    Trial,
}

/// How far a worker's boot has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerBoot {
    Pending,
    /// The boot failed, and the log says why.
    Failed,
    Done,
}

/// The memory of a worker that is ready.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkerMemory {
    pub private: MemoryTrend,
    /// Whether the worker had served enough requests for its full size: it will hardly grow.
    pub is_grown: bool,
}

impl Worker {
    pub fn forked(id: WorkerId, generation: u32, reaction: &Reaction) -> Worker {
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
            collects: false,
            collection: WorkerCollection::default(),
            role: WorkerRole::Regular,
            has_lost_lane: false,
            replacement: None,
            memory: None,
        }
    }

    /// Adds what identifies the worker to a log line.
    pub fn identify(&self, line: LogLine) -> LogLine {
        let line = line
            .number("worker", self.id.number)
            .number("gen", self.generation);
        match self.pid {
            Some(pid) => line.number("pid", pid),
            None => line,
        }
    }

    /// How many requests the worker was given since the current mold took over.
    pub fn requests_since_takeover(&self) -> u64 {
        self.requests.saturating_sub(self.requests_before)
    }

    /// Whether the worker drains, or will drain, to become the mold.
    pub fn is_promoted(&self) -> bool {
        self.replacement == Some(ReplacementReason::Promotion)
    }

    /// Whether the worker can be told to be the mold as soon as its lanes are empty.
    pub fn may_be_mold(&self) -> bool {
        let is_draining = matches!(self.stage, WorkerStage::Retiring { .. });
        is_draining && self.is_promoted() && self.pid.is_some()
    }

    /// Cancels the worker's promotion to mold. The worker still ends if it is draining already.
    pub fn forgo_promotion(&mut self) {
        if self.is_promoted() {
            self.replacement = None;
        }
    }

    /// Private memory in bytes; 0 when unknown.
    pub fn private(&self) -> u64 {
        self.memory.map_or(0, |memory| memory.private.bytes)
    }

    pub fn load(&self) -> WorkerLoad {
        let private = self.memory.map(|memory| memory.private.bytes);
        WorkerLoad {
            private,
            highest: private.unwrap_or(0),
            is_grown: self.memory.is_some_and(|memory| memory.is_grown),
        }
    }

    /// The worker's load as in `load`, with the most private memory that it has ever needed as `highest`.
    pub fn highest_load(&self) -> WorkerLoad {
        WorkerLoad {
            highest: self.memory.map_or(0, |memory| memory.private.highest),
            ..self.load()
        }
    }

    /// How little the end of the worker would cost. A worker with fewer tunnels, or that has been idle for longer, is
    /// colder.
    pub fn coldness(&self) -> (Reverse<usize>, Duration) {
        (Reverse(self.tunnels), self.idle)
    }

    /// How long the worker has served.
    pub fn age(&self, now: Instant) -> Duration {
        let since = self.ready_since.unwrap_or(now);
        now.saturating_duration_since(since)
    }

    pub fn is_booting(&self) -> bool {
        matches!(self.stage, WorkerStage::Booting { .. })
    }

    /// Whether the worker takes requests.
    pub fn is_ready(&self) -> bool {
        self.stage == WorkerStage::Ready
    }

    /// Whether the worker serves or boots, is not being replaced, and is not on trial.
    pub fn stays(&self) -> bool {
        (self.is_booting() || self.is_ready())
            && self.replacement.is_none()
            && self.role == WorkerRole::Regular
    }

    /// Sets the deadline by which the worker must be ready.
    pub fn boot_by(&mut self, deadline: Instant) {
        self.stage = WorkerStage::Booting { deadline };
    }

    pub fn is_trial(&self) -> bool {
        self.role == WorkerRole::Trial
    }

    /// Whether the worker's main thread reads its control socket.
    pub fn listens(&self) -> bool {
        self.boot == WorkerBoot::Done && !self.stage.is_last()
    }

    /// Notes that the worker takes requests from now on.
    pub fn serve(&mut self, reaction: &mut Reaction) {
        self.stage = WorkerStage::Ready;
        self.ready_since = Some(reaction.now);
        let boot = reaction.now.saturating_duration_since(self.forked);
        let line = self.identify(LogLine::info("worker ready"));
        reaction.log(line.milliseconds("boot_ms", boot));
    }

    /// Counts requests anew: a new mold has taken over.
    pub fn begin_generation(&mut self) {
        self.requests_before = self.requests;
    }

    /// Gives the worker no more requests; it ends when its lanes are empty, or at the deadline.
    pub fn drain(&mut self, deadline: Instant, reaction: &mut Reaction) {
        self.stage = WorkerStage::Retiring { deadline };
        reaction.push(Command::Worker(WorkerCommand::Drain(self.id)));
    }

    /// Gives the worker no more requests. It ends when its requests have finished.
    pub fn retire(&mut self, message: &'static str, reaction: &mut Reaction) {
        self.retire_by(self.drain_deadline(reaction), message, reaction);
    }

    /// Gives the worker no more requests. It ends when its requests have finished, or at the deadline.
    pub fn retire_by(&mut self, deadline: Instant, message: &'static str, reaction: &mut Reaction) {
        if self.is_booting() || self.is_ready() {
            reaction.log(self.identify(LogLine::info(message)));
            self.drain(deadline, reaction);
        }
    }

    /// The deadline of a worker that drains. A worker that is replaced has time for its longest request and its
    /// tunnels, because nothing waits for its end.
    pub fn drain_deadline(&self, reaction: &Reaction) -> Instant {
        let limits = &reaction.limits;
        let time = match self.replacement {
            Some(_) => limits
                .shutdown_timeout
                .max(limits.request_timeout.unwrap_or_default())
                .max(limits.tunnel_timeout),
            None => limits.shutdown_timeout,
        };
        reaction.now + time
    }

    /// Drains a worker that got a signal to end from another process, or cannot continue.
    pub fn leave(&mut self, reaction: &mut Reaction) {
        self.forgo_promotion();
        self.retire("worker was told to end", reaction);
    }

    /// Drains a worker that closed a lane: it is dying, or the application ended one of its threads. The other lanes
    /// finish their requests.
    pub fn lose_lane(&mut self, reaction: &mut Reaction) {
        self.forgo_promotion();
        self.has_lost_lane = true;
        if self.is_ready() {
            self.drain(reaction.now + reaction.limits.shutdown_timeout, reaction);
        }
    }

    /// Replaces a worker because a request exceeded `request_timeout`. The worker reports the request's stack, and
    /// finishes its other requests.
    pub fn get_stuck(&mut self, tag: LaneTag, request: u32, reaction: &mut Reaction) {
        reaction.push(Command::Worker(WorkerCommand::AskStack { tag, request }));
        let stack_deadline = reaction.now + STACK_WAIT;
        #[expect(clippy::wildcard_enum_match_arm, reason = "all that are not stuck")]
        match &mut self.stage {
            last if last.is_last() => {}
            // The deadline of the first stuck request stays.
            WorkerStage::Stuck { stack, .. } => *stack = stack_deadline,
            other => {
                *other = WorkerStage::Stuck {
                    stack: stack_deadline,
                    deadline: reaction.now + reaction.limits.shutdown_timeout,
                    is_drained: false,
                };
                reaction.push(Command::Worker(WorkerCommand::Drain(self.id)));
            }
        }
    }

    pub fn log_stack(&mut self, report: &StackReport, reaction: &mut Reaction) {
        if let WorkerStage::Stuck { stack, .. } = &mut self.stage {
            *stack = reaction.now;
        }
        reaction.log(
            self.identify(LogLine::error("stack of the stuck request"))
                .number("lane", report.tag.lane)
                .text("waits_for", &report.waits_for)
                .text("stack", &report.stack),
        );
    }

    /// Tells a worker whose lanes are empty to end. It may run its hooks until the deadline.
    pub fn drained(&mut self, deadline: Instant, is_cut_off: bool, reaction: &mut Reaction) {
        match &mut self.stage {
            WorkerStage::Retiring { .. } => {
                self.stage = WorkerStage::Ending { deadline };
                reaction.push(if is_cut_off {
                    Command::Worker(WorkerCommand::EndNow(self.id))
                } else {
                    Command::End(RubyProcess::Worker(self.id))
                });
            }
            WorkerStage::Stuck { is_drained, .. } => *is_drained = true,
            WorkerStage::Booting { .. }
            | WorkerStage::Ready
            | WorkerStage::Lost { .. }
            | WorkerStage::Ending { .. }
            | WorkerStage::Killed { .. } => {}
        }
    }

    /// Drains the worker because the server stops. A worker that was draining before gets the same deadline, and is
    /// reported again if its lanes are empty by now.
    pub fn end_with_server(&mut self, deadline: Instant, reaction: &mut Reaction) {
        if self.is_ready() {
            reaction.log(self.identify(LogLine::info("worker ends with the server")));
        }
        if !self.stage.is_last() {
            self.drain(deadline, reaction);
        }
    }

    /// Whether the worker's process runs although its time is over.
    pub fn is_overdue(&self, now: Instant) -> bool {
        self.pid.is_some() && self.stage.is_over(now)
    }

    /// Sends SIGTERM if the worker's time is over, and SIGKILL if it already got SIGTERM.
    pub fn end_overdue(&mut self, reaction: &mut Reaction) {
        if self.is_overdue(reaction.now) {
            self.signal(self.stage.is_terminated_first(), reaction);
            reaction.push(Command::Worker(WorkerCommand::EndNow(self.id)));
            self.stage = self.stage.after_signal(reaction.now, KILL_AFTER);
        }
    }

    /// Sends SIGKILL if the worker's process runs.
    pub fn kill(&mut self, reaction: &mut Reaction) {
        self.forgo_promotion();
        if self.pid.is_some() {
            self.signal(false, reaction);
            let deadline = reaction.now + KILL_AFTER;
            self.stage = WorkerStage::Killed { deadline };
        }
    }

    fn signal(&self, is_terminated: bool, reaction: &mut Reaction) {
        use rustix::process::Signal;
        let Some(pid) = self.pid else { return };
        let (signal, command) = if is_terminated {
            (Signal::TERM, Command::Terminate { pid })
        } else {
            (Signal::KILL, Command::Kill { pid })
        };
        let number = signal.as_raw().unsigned_abs();
        let line = self.identify(LogLine::warn("ending worker"));
        reaction.log(line.number("signal", number));
        reaction.push(command);
    }

    /// Whether the worker ended as it was told to.
    pub fn expected(&self, status: ExitStatus) -> bool {
        match self.stage {
            WorkerStage::Retiring { .. }
            | WorkerStage::Stuck { .. }
            | WorkerStage::Ending { .. } => status.is_success(),
            WorkerStage::Killed { .. } => self.boot == WorkerBoot::Done && status.kill().is_some(),
            WorkerStage::Booting { .. } | WorkerStage::Ready | WorkerStage::Lost { .. } => false,
        }
    }
}
