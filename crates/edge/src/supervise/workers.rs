use std::fmt::Display;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::process::{Signal, WaitStatus};
use tokio::task::spawn_local;
use wire::control::{ForkWorker, encode_ask_stack, encode_signal};

use super::channel::Channel;
use super::event::Who;
use super::fork::Sockets;
use super::reap::Ended;
use super::roster::{Stage, Worker};
use super::signals::signal_process;
use super::supervisor::Supervisor;
use crate::dispatch::carry;
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
        let number = self.roster.free_number();
        let sockets = Sockets::new(number, settings.threads)?;
        let channel = Channel::open(sockets.control, Who::Worker(number), self.events.clone())?;
        let fork = ForkWorker {
            worker: number,
            generation: mold.generation,
            lanes: settings.threads,
        };
        mold.channel
            .send(sockets.descriptors, |out| fork.encode(out));
        for (lane, socket) in sockets.lanes {
            spawn_local(carry(
                Rc::new(lane),
                socket,
                Rc::clone(&self.server.dispatcher),
            ));
        }
        let stage = Stage::Booting {
            deadline: Instant::now() + settings.boot_timeout,
        };
        let worker = Worker {
            generation: mold.generation,
            pid: None,
            channel,
            stage,
        };
        self.roster.insert(number, worker);
        Ok(())
    }

    pub(super) fn worker_ready(&mut self, number: u32) {
        let Some(worker) = self.roster.get_mut(number) else {
            return;
        };
        if !matches!(worker.stage, Stage::Booting { .. }) {
            return;
        }
        worker.stage = Stage::Ready;
        let (generation, pid) = (worker.generation, worker.pid.unwrap_or_default());
        self.worker_backoff.succeed();
        self.last_boot_error.clear();
        self.server.log.info(
            "worker ready",
            &[("worker", &number), ("gen", &generation), ("pid", &pid)],
        );
        if !self.announced {
            self.announced = true;
            self.announce();
        }
    }

    /// The worker has closed a socket: it is dead or dying, or must be made to.
    pub(super) fn worker_closed(&mut self, number: u32) {
        let now = Instant::now();
        if let Some(worker) = self.roster.get_mut(number) {
            if matches!(worker.stage, Stage::Ending { .. }) {
                return;
            }
            worker.stage = Stage::Ending {
                deadline: now + KILL_AFTER,
            };
            // A worker without a process has never come to life: the mold could not fork it.
            if worker.pid.is_none() {
                self.roster.remove(number);
                if self.worker_backoff.allows(now) {
                    self.worker_backoff.fail(now);
                }
            }
        }
    }

    /// Takes a worker out of service; it ends when it has finished what it holds.
    pub(super) fn retire(&mut self, number: u32, reason: &str) {
        let deadline = Instant::now() + self.server.settings.shutdown_timeout;
        let Some(worker) = self.roster.get_mut(number) else {
            return;
        };
        if matches!(worker.stage, Stage::Retiring { .. } | Stage::Ending { .. }) {
            return;
        }
        worker.stage = Stage::Retiring { deadline };
        let pid = worker.pid.unwrap_or_default();
        self.server.log.info(
            reason,
            &[
                ("worker", &number),
                ("gen", &worker.generation),
                ("pid", &pid),
            ],
        );
        self.server.dispatcher.drain(number);
        self.lane_drained(number);
    }

    /// One of the lanes of a retiring worker is empty; when all are, it is told to end.
    pub(super) fn lane_drained(&mut self, number: u32) {
        let deadline = Instant::now() + self.server.settings.shutdown_timeout;
        let Some(worker) = self.roster.get_mut(number) else {
            return;
        };
        if matches!(worker.stage, Stage::Retiring { .. })
            && self.server.dispatcher.is_drained(number)
        {
            worker.stage = Stage::Ending { deadline };
            worker
                .channel
                .send(Vec::new(), |out| encode_signal(out, wire::Kind::Drain));
        }
    }

    /// A request has taken too long: the worker says where it stands, and is replaced.
    pub(super) fn lane_stuck(&mut self, number: u32, lane: u16) {
        self.server.dispatcher.drain(number);
        if let Some(worker) = self.roster.get_mut(number) {
            worker
                .channel
                .send(Vec::new(), |out| encode_ask_stack(out, lane));
            worker.stage = Stage::Retiring {
                deadline: Instant::now() + STACK_WAIT,
            };
        }
    }

    pub(super) fn log_stack(&self, worker: u32, lane: u16, text: &str) {
        self.server.log.error(
            "stack of the stuck request",
            &[("worker", &worker), ("lane", &lane), ("stack", &text)],
        );
    }

    /// Sends SIGTERM to those whose time is over, and SIGKILL to those who had that.
    pub(super) fn end_overdue(&mut self, now: Instant) {
        let mut unborn = Vec::new();
        for (number, worker) in self.roster.iter_mut() {
            if !worker.stage.is_overdue(now) {
                continue;
            }
            let Some(pid) = worker.pid else {
                unborn.push(number);
                continue;
            };
            let signal = match worker.stage {
                Stage::Retiring { .. } => Signal::TERM,
                _ => Signal::KILL,
            };
            self.server.log.warn(
                "ending worker",
                &[
                    ("worker", &number),
                    ("pid", &pid),
                    ("signal", &signal.as_raw()),
                ],
            );
            signal_process(pid, signal);
            worker.stage = worker.stage.extended(now, KILL_AFTER);
        }
        self.forget_unborn(&unborn);
    }

    /// The mold did not fork these workers in time, so it is stuck: the next one will.
    fn forget_unborn(&mut self, numbers: &[u32]) {
        for &number in numbers {
            self.roster.remove(number);
        }
        if let Some(mold) = self.mold.as_ref().filter(|_| !numbers.is_empty()) {
            let fields: [Field<'_>; 2] = [("gen", &mold.generation), ("pid", &mold.pid)];
            self.server.log.error("mold does not fork", &fields);
            signal_process(mold.pid, Signal::KILL);
        }
    }

    pub(super) fn worker_died(&mut self, number: u32, pid: u32, status: WaitStatus) {
        let Some(worker) = self.roster.remove(number) else {
            return;
        };
        let fields: [(&'static str, &dyn Display); 4] = [
            ("worker", &number),
            ("gen", &worker.generation),
            ("pid", &pid),
            ("cause", &Ended(status)),
        ];
        match worker.stage {
            Stage::Ending { .. } | Stage::Retiring { .. } if status.exit_status() == Some(0) => {
                self.server.log.info("worker ended", &fields);
            }
            Stage::Booting { .. } => {
                let now = Instant::now();
                if self.worker_backoff.allows(now) {
                    self.worker_backoff.fail(now);
                }
                self.server.log.error("worker died while booting", &fields);
            }
            _ => self.server.log.error("worker died", &fields),
        }
    }
}
