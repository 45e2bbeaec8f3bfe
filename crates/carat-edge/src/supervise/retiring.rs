use std::time::Instant;

use carat_wire::control::encode_signal;
use rustix::process::Signal;

use super::roster::{Stage, Worker};
use super::signals::signal_process;
use super::supervisor::Supervisor;
use super::workers::KILL_AFTER;
use crate::dispatch::WorkerId;
use crate::log::Field;

/// How workers leave.
impl Supervisor {
    /// The worker has closed a lane: it dies, or the application has ended one of its threads. Then the
    /// others finish what they hold.
    pub(super) fn lane_lost(&mut self, id: WorkerId) {
        let deadline = Instant::now() + self.server.settings.shutdown_timeout;
        if let Some(worker) = self.roster.get_mut(id) {
            worker.forgo_promotion();
            if worker.stage == Stage::Ready {
                worker.stage = Stage::Retiring { deadline };
                self.server.dispatcher.drain(id);
            }
            self.lane_drained(id);
        }
    }

    /// The worker was told to end by somebody else, or cannot go on.
    pub(super) fn leave(&mut self, id: WorkerId) {
        if let Some(worker) = self.roster.get_mut(id) {
            worker.forgo_promotion();
        }
        self.retire(id, "worker was told to end");
    }

    /// Takes a worker out of service; it ends when it has finished what it holds.
    pub(super) fn retire(&mut self, id: WorkerId, reason: &str) {
        let settings = &self.server.settings;
        let Some(worker) = self.roster.get_mut(id) else {
            return;
        };
        // Nobody waits for it to end when it is only replaced.
        let patience = worker.leaves_for.map_or(settings.shutdown_timeout, |_| {
            settings.shutdown_timeout.max(settings.request_timeout)
        });
        let deadline = Instant::now() + patience;
        if !matches!(worker.stage, Stage::Booting { .. } | Stage::Ready) {
            return;
        }
        worker.stage = Stage::Retiring { deadline };
        self.server.log.info(reason, &worker.identity());
        self.server.dispatcher.drain(id);
        self.lane_drained(id);
    }

    /// One of the lanes of a retiring worker is empty; when all are, it is told to end, or to be the mold.
    pub(super) fn lane_drained(&mut self, id: WorkerId) {
        let deadline = Instant::now() + self.server.settings.shutdown_timeout;
        let Some(worker) = self.roster.get_mut(id) else {
            return;
        };
        let is_done =
            matches!(worker.stage, Stage::Retiring { .. }) && self.server.dispatcher.is_drained(id);
        if is_done && worker.is_promoted() {
            self.promote(id);
        } else if is_done {
            worker.stage = Stage::Ending { deadline };
            tell_to_end(worker);
        }
    }

    /// Sends SIGTERM to those whose time is over, and SIGKILL to those who had that.
    pub(super) fn end_overdue(&mut self, now: Instant) {
        let dispatcher = &self.server.dispatcher;
        for worker in self.roster.iter_mut() {
            let is_free = matches!(worker.stage, Stage::Stuck { stack, .. } if now >= stack)
                && dispatcher.is_drained(worker.id);
            let is_over = is_free || worker.stage.is_overdue(now);
            let Some(pid) = worker.pid.filter(|_| is_over) else {
                continue;
            };
            if worker.is_promoted() {
                worker.forgo_promotion();
                let cause = "it has not finished in time what it held";
                let log = &self.server.log;
                self.promotion.candidate_fails(now, log, worker, cause);
            }
            let signal = match worker.stage {
                Stage::Retiring { .. } | Stage::Stuck { .. } => Signal::TERM,
                _ => Signal::KILL,
            };
            let signal_number: Field<'_> = ("signal", &signal.as_raw());
            let fields = [&worker.identity()[..], &[signal_number]].concat();
            self.server.log.warn("ending worker", &fields);
            signal_process(pid, signal);
            tell_to_end(worker);
            worker.stage = worker.stage.after_signal(now, KILL_AFTER);
        }
    }

    /// Kills those that have not ended with the server in time.
    pub(super) fn kill_workers(&mut self, now: Instant) {
        for worker in self.roster.iter_mut() {
            let Some(pid) = worker.pid else { continue };
            let signal: Field<'_> = ("signal", &Signal::KILL.as_raw());
            let fields = [&worker.identity()[..], &[signal]].concat();
            self.server.log.warn("ending worker", &fields);
            signal_process(pid, Signal::KILL);
            let deadline = now + KILL_AFTER;
            worker.stage = Stage::Killed { deadline };
        }
    }
}

fn tell_to_end(worker: &Worker) {
    worker.channel.send(Vec::new(), |out| {
        encode_signal(out, carat_wire::Kind::Drain);
    });
}
