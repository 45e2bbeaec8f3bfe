use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tokio::task::spawn_local;
use wire::control::{AskStack, ForkWorker, encode_signal};

use super::channel::Channel;
use super::event::Who;
use super::fork::Sockets;
use super::reap::Ended;
use super::roster::{Boot, Stage, Worker};
use super::signals::signal_process;
use super::supervisor::Supervisor;
use super::worker_id::WorkerId;
use crate::dispatch::{LaneTag, carry};
use crate::log::Field;

/// How long a process that was told to end by SIGTERM has until SIGKILL.
const KILL_AFTER: Duration = Duration::from_secs(2);
/// How long a worker whose request is stuck has to say where it stands.
const STACK_WAIT: Duration = Duration::from_secs(1);

/// The life of workers.
impl Supervisor {
    pub(super) fn fork_worker(&mut self) -> io::Result<()> {
        let Some(mold) = &self.mold else {
            return Ok(());
        };
        let settings = &self.server.settings;
        let id = self.roster.next_id();
        let sockets = Sockets::new(id, settings.lanes())?;
        let channel = Channel::open(sockets.control, Who::Worker(id), self.events.clone())?;
        let fork = ForkWorker {
            worker: id.number,
            generation: mold.generation,
            lanes: settings.lanes(),
        };
        mold.channel
            .send(sockets.descriptors, |out| fork.encode(out));
        let mut lanes = Vec::new();
        for (lane, socket) in sockets.lanes {
            lanes.push(Rc::clone(&lane));
            spawn_local(carry(lane, socket, Rc::clone(&self.server.dispatcher)));
        }
        self.roster.insert(Worker {
            id,
            generation: mold.generation,
            pid: None,
            channel,
            lanes,
            boot: Boot::Pending,
            stage: Stage::Booting {
                deadline: Instant::now() + settings.boot_timeout,
            },
        });
        Ok(())
    }

    pub(super) fn worker_greeted(&mut self, id: WorkerId, pid: u32) {
        let Some(worker) = self.roster.get_mut(id) else {
            return;
        };
        worker.pid = Some(pid);
        if let Some(status) = self.strangers.take(pid) {
            self.worker_died(id, &Ended(Some(status)));
        }
    }

    pub(super) fn worker_ready(&mut self, id: WorkerId) {
        let Some(worker) = self.roster.get_mut(id) else {
            return;
        };
        worker.boot = Boot::Done;
        if !matches!(worker.stage, Stage::Booting { .. }) {
            return;
        }
        worker.stage = Stage::Ready;
        self.worker_backoff.succeed();
        self.boot_errors.forget();
        self.server.log.info("worker ready", &worker.identity());
        if !self.announced {
            self.announced = true;
            self.announce();
        }
    }

    /// The worker, or the mold in its place, has said why it cannot boot.
    pub(super) fn worker_boot_failed(&mut self, id: WorkerId, text: &str) {
        let Some(worker) = self.roster.get_mut(id) else {
            return;
        };
        worker.boot = Boot::Failed;
        let delay = self.worker_backoff.fail(Instant::now());
        let log = &self.server.log;
        self.boot_errors.log(
            log,
            "worker failed to boot",
            &worker.identity(),
            delay,
            text,
        );
    }

    /// The worker has closed its control socket: it is dead or dying, or must be made to.
    pub(super) fn worker_closed(&mut self, id: WorkerId) {
        let Some(worker) = self.roster.get_mut(id) else {
            return;
        };
        if worker.pid.is_none() {
            // It has never come to life.
            self.worker_died(id, &Ended(None));
        } else if !matches!(worker.stage, Stage::Ending { .. } | Stage::Lost { .. }) {
            let now = Instant::now();
            worker.stage = Stage::Lost {
                deadline: now + KILL_AFTER,
            };
            if worker.boot == Boot::Pending {
                self.worker_backoff.fail(now);
            }
        }
    }

    /// The worker has closed a lane: it dies, or the application has ended one of its threads. Then the
    /// others finish what they hold.
    pub(super) fn lane_lost(&mut self, id: WorkerId) {
        let deadline = Instant::now() + self.server.settings.shutdown_timeout;
        if let Some(worker) = self.roster.get_mut(id) {
            if worker.stage == Stage::Ready {
                worker.stage = Stage::Retiring { deadline };
                self.server.dispatcher.drain(id);
            }
            self.lane_drained(id);
        }
    }

    /// Takes a worker out of service; it ends when it has finished what it holds.
    pub(super) fn retire(&mut self, id: WorkerId, reason: &str) {
        let deadline = Instant::now() + self.server.settings.shutdown_timeout;
        let Some(worker) = self.roster.get_mut(id) else {
            return;
        };
        if !matches!(worker.stage, Stage::Booting { .. } | Stage::Ready) {
            return;
        }
        worker.stage = Stage::Retiring { deadline };
        self.server.log.info(reason, &worker.identity());
        self.server.dispatcher.drain(id);
        self.lane_drained(id);
    }

    /// One of the lanes of a retiring worker is empty; when all are, it is told to end.
    pub(super) fn lane_drained(&mut self, id: WorkerId) {
        let deadline = Instant::now() + self.server.settings.shutdown_timeout;
        let Some(worker) = self.roster.get_mut(id) else {
            return;
        };
        if matches!(worker.stage, Stage::Retiring { .. }) && self.server.dispatcher.is_drained(id) {
            worker.stage = Stage::Ending { deadline };
            tell_to_end(worker);
        }
    }

    /// A request has taken too long: the worker says where it stands, finishes its other requests, and
    /// is replaced.
    pub(super) fn lane_stuck(&mut self, tag: LaneTag, request: u32) {
        let now = Instant::now();
        let deadline = now + self.server.settings.shutdown_timeout;
        let Some(worker) = self.roster.get_mut(tag.worker) else {
            return;
        };
        let lane = tag.lane;
        let ask = AskStack { lane, request };
        worker.channel.send(Vec::new(), |out| ask.encode(out));
        let stack = now + STACK_WAIT;
        match &mut worker.stage {
            Stage::Ending { .. } | Stage::Lost { .. } => {}
            // Another of its requests did before; its time is over when it was to be.
            Stage::Stuck { stack: answer, .. } => *answer = stack,
            stage => {
                *stage = Stage::Stuck { stack, deadline };
                self.server.dispatcher.drain(tag.worker);
            }
        }
    }

    pub(super) fn log_stack(&mut self, id: WorkerId, lane: u16, text: &str) {
        let Some(worker) = self.roster.get_mut(id) else {
            return;
        };
        if let Stage::Stuck { stack, .. } = &mut worker.stage {
            *stack = Instant::now();
        }
        let stack: [Field<'_>; 2] = [("lane", &lane), ("stack", &text)];
        let fields = [&worker.identity()[..], &stack].concat();
        self.server.log.error("stack of the stuck request", &fields);
    }

    /// Workers that are not ready in time are as good as failed.
    pub(super) fn fail_late_boots(&mut self, now: Instant) {
        let limit = self.server.settings.boot_timeout;
        let text = format!("not ready within {limit:?} (boot_timeout)");
        for id in self.roster.late_boots(now) {
            self.worker_boot_failed(id, &text);
            let worker = self.roster.get_mut(id);
            if worker.is_some_and(|worker| worker.pid.is_none()) {
                self.worker_died(id, &Ended(None));
                self.end_stuck_mold();
            }
        }
    }

    /// The mold did not fork a worker in time: the next one will.
    fn end_stuck_mold(&self) {
        if let Some(mold) = &self.mold {
            let fields: [Field<'_>; 2] = [("gen", &mold.generation), ("pid", &mold.pid)];
            self.server.log.error("mold does not fork", &fields);
            signal_process(mold.pid, Signal::KILL);
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
            let signal = match worker.stage {
                Stage::Retiring { .. } | Stage::Stuck { .. } => Signal::TERM,
                _ => Signal::KILL,
            };
            let signal_number: Field<'_> = ("signal", &signal.as_raw());
            let fields = [&worker.identity()[..], &[signal_number]].concat();
            self.server.log.warn("ending worker", &fields);
            signal_process(pid, signal);
            tell_to_end(worker);
            worker.stage = worker.stage.extended(now, KILL_AFTER);
        }
    }

    /// The worker is dead: it is forgotten, and its lanes are over.
    pub(super) fn worker_died(&mut self, id: WorkerId, cause: &Ended) {
        let Some(worker) = self.roster.remove(id) else {
            return;
        };
        for lane in &worker.lanes {
            lane.worker_died();
        }
        let who = worker.identity();
        let fields = [&who[..], &[("cause", cause)]].concat();
        match (worker.stage, worker.boot) {
            (Stage::Retiring { .. } | Stage::Stuck { .. } | Stage::Ending { .. }, _)
                if cause.is_success() =>
            {
                self.server.log.info("worker ended", &fields);
            }
            (_, Boot::Done) => self.server.log.error("worker died", &fields),
            // It has said why.
            (_, Boot::Failed) => {}
            (_, Boot::Pending) => {
                let delay = self.worker_backoff.fail(Instant::now());
                let (log, text) = (&self.server.log, cause.to_string());
                self.boot_errors
                    .log(log, "worker died while booting", &who, delay, &text);
            }
        }
    }

    /// Ends a worker that has not served yet.
    pub(super) fn abandon(&mut self, id: WorkerId) {
        let Some(worker) = self.roster.get_mut(id) else {
            return;
        };
        worker.boot = Boot::Failed;
        match worker.pid {
            Some(pid) => signal_process(pid, Signal::KILL),
            // It sees that its control socket is closed, if it ever comes to life.
            None => self.worker_died(id, &Ended(None)),
        }
    }
}

fn tell_to_end(worker: &Worker) {
    worker
        .channel
        .send(Vec::new(), |out| encode_signal(out, wire::Kind::Drain));
}
