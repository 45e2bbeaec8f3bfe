use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::command::{AppCommand, Command};
use crate::exit_status::ExitStatus;
use crate::log_line::LogLine;
use crate::ruby_process::{AppProcessId, RubyProcess};
use crate::state::reaction::{KILL_AFTER, Reaction};

/// The shortest time from one measurement to the next.
const PAUSE: Duration = Duration::from_secs(5);
/// How long a measurement may take, including the fork of its process.
const LOAD_TIMEOUT: Duration = Duration::from_secs(5);

/// Measures the load of the processes of one name. Each measurement runs in a process of its own, because the
/// application's code may hang, leak, or fail.
#[derive(Debug, Default)]
pub(super) struct LoadMeter {
    due: Option<Instant>,
    under_way: Option<Measurement>,
    /// Whether the last measurement failed. The failure is logged once, until a measurement succeeds.
    has_failed: bool,
    /// The load of the newest measurement; `None` if that failed.
    pub(super) load: Option<f64>,
}

#[derive(Debug)]
struct Measurement {
    id: AppProcessId,
    pid: Option<u32>,
    deadline: Instant,
    /// Whether the measurement has ended: the load is known, or the reason why it is not.
    is_done: bool,
    /// Whether the measuring process was killed because its result is not wanted any more.
    is_stopped: bool,
}

impl LoadMeter {
    /// Whether a measurement is to begin.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.under_way.is_none() && self.due.is_none_or(|due| now >= due)
    }

    /// Notes that a process is forked for a measurement.
    pub(super) fn begin(&mut self, id: AppProcessId, now: Instant) {
        self.due = Some(now + PAUSE);
        self.under_way = Some(Measurement {
            id,
            pid: None,
            deadline: now + LOAD_TIMEOUT,
            is_done: false,
            is_stopped: false,
        });
    }

    /// The process that measures now, and its process id once that is known.
    pub(super) fn process(&self) -> Option<(AppProcessId, Option<u32>)> {
        self.under_way.as_ref().map(|it| (it.id, it.pid))
    }

    /// The measuring process sent its first message.
    pub(super) fn hello(&mut self, pid: u32) {
        if let Some(measurement) = &mut self.under_way {
            measurement.pid = Some(pid);
        }
    }

    /// The measuring process reports the load.
    pub(super) fn measured(&mut self, load: f64) {
        if let Some(measurement) = &mut self.under_way {
            measurement.is_done = true;
            self.has_failed = false;
            self.load = Some(load);
        }
    }

    /// Ends the measurement without a result. `cause` is in the words of the process, or of the mold that cannot fork
    /// it.
    pub(super) fn failed(&mut self, name: &str, cause: &str, reaction: &mut Reaction) {
        let Some(measurement) = self.under_way.as_mut().filter(|it| !it.is_done) else {
            return;
        };
        measurement.is_done = true;
        self.load = None;
        if !std::mem::replace(&mut self.has_failed, true) {
            let line = LogLine::warn("the load of processes cannot be measured");
            reaction.log(line.text("process", name).text("cause", cause));
        }
    }

    /// The control socket of the measuring process is closed: the process ends, or was never forked.
    pub(super) fn closed(&mut self, name: &str, reaction: &mut Reaction) {
        if self.under_way.as_ref().is_some_and(|it| it.pid.is_none()) {
            self.failed(name, "the mold ended before it forked a process", reaction);
            self.forget(reaction);
        }
    }

    /// Notes that the measuring process has ended. Its descendants are killed.
    pub(super) fn exited(&mut self, name: &str, status: ExitStatus, reaction: &mut Reaction) {
        self.failed(name, &format!("its process ended ({status})"), reaction);
        self.kill(reaction);
        self.forget(reaction);
    }

    /// Kills a measuring process that takes too long.
    pub(super) fn end_overdue(&mut self, name: &str, reaction: &mut Reaction) {
        let now = reaction.now;
        let Some(late) = self.under_way.as_mut().filter(|it| now >= it.deadline) else {
            return;
        };
        late.deadline = now + KILL_AFTER;
        let is_started = late.pid.is_some();
        self.failed(name, &format!("none within {LOAD_TIMEOUT:?}"), reaction);
        self.kill(reaction);
        if !is_started {
            self.forget(reaction);
        }
    }

    /// Stops the measurement: its result is not wanted any more.
    pub(super) fn stop(&mut self, reaction: &mut Reaction) {
        match &mut self.under_way {
            Some(measurement) if measurement.is_stopped => {}
            Some(measurement) if measurement.pid.is_some() => {
                (measurement.is_done, measurement.is_stopped) = (true, true);
                self.kill(reaction);
            }
            // The process, if it is ever forked, finds its control socket closed and ends.
            Some(_) => self.forget(reaction),
            None => {}
        }
    }

    fn kill(&self, reaction: &mut Reaction) {
        if let Some((id, Some(pid))) = self.process() {
            let signal = Signal::KILL.as_raw();
            reaction.push(Command::App(AppCommand::SignalGroup { id, pid, signal }));
        }
    }

    fn forget(&mut self, reaction: &mut Reaction) {
        if let Some(measurement) = self.under_way.take() {
            let process = RubyProcess::App(measurement.id);
            reaction.push(Command::CloseControl(process));
        }
    }
}
