use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_wire::control::ForkWorker;
use rustix::process::Signal;
use tokio::task::spawn_local;

use super::channel::Channel;
use super::event::Who;
use super::fork::Sockets;
use super::reap::Ended;
use super::roster::{Boot, Stage, Worker};
use super::signals::signal_process;
use super::supervisor::Supervisor;
use crate::dispatch::WorkerId;
use crate::dispatch::carry;
use crate::log::Field;

/// How long a process that was told to end by SIGTERM has until SIGKILL.
pub(super) const KILL_AFTER: Duration = Duration::from_secs(2);

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
            ready_since: None,
            begun_before: 0,
            leaves_for: None,
            weight: None,
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
        let Stage::Booting { deadline } = worker.stage else {
            return;
        };
        let now = Instant::now();
        let left = deadline.saturating_duration_since(now);
        let limit = self.server.settings.boot_timeout;
        let milliseconds = limit.saturating_sub(left).as_millis();
        worker.stage = Stage::Ready;
        worker.ready_since = Some(now);
        self.worker_backoff.succeed();
        self.scales.sampler.hurry(now);
        self.boot_errors.forget();
        let boot: Field<'_> = ("boot_ms", &milliseconds);
        let fields = [&worker.identity()[..], &[boot]].concat();
        self.server.log.info("worker ready", &fields);
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
        } else if !worker.stage.is_last() {
            let now = Instant::now();
            worker.stage = Stage::Lost {
                deadline: now + KILL_AFTER,
            };
            if worker.boot == Boot::Pending {
                self.worker_backoff.fail(now);
            }
        }
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

    /// The worker is dead: it is forgotten, and its lanes are over.
    pub(super) fn worker_died(&mut self, id: WorkerId, cause: &Ended) {
        let Some(worker) = self.roster.remove(id) else {
            return;
        };
        self.scales.sampler.hurry(Instant::now());
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
            (Stage::Killed { .. }, Boot::Done) if cause.is_kill() => {
                self.server.log.info("worker ended", &fields);
            }
            (_, Boot::Done) if cause.is_kill() && self.scales.took(Instant::now()) => {
                let message = "worker was taken by the OOM killer";
                self.server.log.warn(message, &fields);
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
