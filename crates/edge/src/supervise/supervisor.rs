use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitStatus, kill_process};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::spawn_local;
use wire::control::{ForkWorker, encode_ask_stack, encode_signal};

use super::backoff::Backoff;
use super::channel::Channel;
use super::event::{Event, Events, Who};
use super::fork::Sockets;
use super::mold::Mold;
use super::ready;
use super::reap::Ended;
use super::roster::{Roster, Stage, Worker};
use crate::dispatch::carry;
use crate::server::Server;

/// How long a process that was told to end by SIGTERM has until SIGKILL.
const KILL_AFTER: Duration = Duration::from_secs(2);
/// How long a worker whose request is stuck has to say where it stands.
const STACK_WAIT: Duration = Duration::from_secs(1);

/// Keeps as many workers as there should be.
pub(crate) struct Supervisor {
    pub(super) server: Rc<Server>,
    pub(super) events: Events,
    pub(super) received: UnboundedReceiver<Event>,
    pub(super) roster: Roster,
    pub(super) mold: Option<Mold>,
    urls: Vec<String>,
    generation: u32,
    announced: bool,
    mold_backoff: Backoff,
    worker_backoff: Backoff,
    last_boot_error: String,
}

/// Why the server cannot go on.
#[derive(Debug)]
pub(crate) struct Fatal(pub(crate) String);

impl Supervisor {
    pub(crate) fn new(
        server: Rc<Server>,
        (events, received): (Events, UnboundedReceiver<Event>),
        urls: Vec<String>,
    ) -> Supervisor {
        Supervisor {
            server,
            events,
            received,
            roster: Roster::default(),
            mold: None,
            urls,
            generation: 0,
            announced: false,
            mold_backoff: Backoff::default(),
            worker_backoff: Backoff::default(),
            last_boot_error: String::new(),
        }
    }

    /// Handles one event.
    pub(super) fn handle(&mut self, event: Event) -> Result<(), Fatal> {
        match event {
            Event::Greeted {
                who: Who::Worker(number),
                pid,
            } => {
                if let Some(worker) = self.roster.get_mut(number) {
                    worker.pid = Some(pid);
                }
            }
            Event::Greeted { .. } => {}
            Event::Ready(Who::Mold(generation)) => self.mold_ready(generation),
            Event::Ready(Who::Worker(number)) => self.worker_ready(number),
            Event::BootFailed { who, text } => self.boot_failed(who, &text)?,
            Event::Stack { worker, lane, text } => self.log_stack(worker, lane, &text),
            Event::Leaving(number) => self.retire(number, "worker was told to end"),
            Event::Closed(Who::Mold(generation)) => self.mold_closed(generation),
            Event::Closed(Who::Worker(number)) => self.worker_closed(number),
            Event::LaneLost(tag) => self.worker_closed(tag.worker),
            Event::LaneDrained(tag) => self.lane_drained(tag.worker),
            Event::LaneStuck(tag) => self.lane_stuck(tag.worker, tag.lane),
            Event::Reaped { pid, status } => self.reaped(pid, status)?,
        }
        Ok(())
    }

    /// Starts what is missing and ends what is overdue. Called once a tick.
    pub(super) fn keep_up(&mut self) -> Result<(), Fatal> {
        let now = Instant::now();
        self.keep_mold(now)?;
        self.end_overdue(now);
        let ready = self.mold.as_ref().is_some_and(|mold| mold.is_ready);
        if ready && self.worker_backoff.allows(now) {
            for _ in 0..self.roster.missing(self.server.settings.workers) {
                if let Err(error) = self.fork_worker() {
                    self.worker_backoff.fail(now);
                    self.server
                        .log
                        .error("cannot fork a worker", &[("cause", &error)]);
                    break;
                }
            }
        }
        Ok(())
    }

    fn keep_mold(&mut self, now: Instant) -> Result<(), Fatal> {
        let limit = self.server.settings.boot_timeout;
        if let Some(mold) = &self.mold {
            if !mold.is_ready && now.duration_since(mold.started) > limit {
                signal_process(mold.pid, Signal::KILL);
                return self.mold_failed(&format!(
                    "the application did not load within {limit:?} (boot_timeout)"
                ));
            }
        } else if self.mold_backoff.allows(now) {
            self.generation += 1;
            let mold = Mold::start(&self.server.settings, self.generation, self.events.clone());
            self.mold =
                Some(mold.map_err(|error| Fatal(format!("cannot start the mold: {error}")))?);
        }
        Ok(())
    }

    fn mold_ready(&mut self, generation: u32) {
        if let Some(mold) = self
            .mold
            .as_mut()
            .filter(|mold| mold.generation == generation)
        {
            mold.is_ready = true;
            self.mold_backoff.succeed();
            let milliseconds = mold.started.elapsed().as_millis();
            self.server.log.info(
                "mold ready",
                &[
                    ("gen", &generation),
                    ("pid", &mold.pid),
                    ("boot_ms", &milliseconds),
                ],
            );
        }
    }

    /// The mold has closed its control socket: it is dead, or as good as that.
    fn mold_closed(&mut self, generation: u32) {
        if let Some(mold) = self
            .mold
            .as_ref()
            .filter(|mold| mold.generation == generation && mold.is_ready)
        {
            signal_process(mold.pid, Signal::KILL);
        }
    }

    /// The mold could not load the application. At the first boot that is the end of the server.
    fn mold_failed(&mut self, text: &str) -> Result<(), Fatal> {
        self.mold = None;
        if !self.announced {
            return Err(Fatal(text.to_owned()));
        }
        let delay = self.mold_backoff.fail(Instant::now());
        self.log_boot_error("mold failed to boot", delay, text);
        Ok(())
    }

    fn fork_worker(&mut self) -> io::Result<()> {
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

    fn worker_ready(&mut self, number: u32) {
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

    fn announce(&self) {
        let pid = std::process::id();
        let version = &self.server.settings.version;
        for url in &self.urls {
            self.server.log.info(
                "listening",
                &[("url", url), ("version", version), ("pid", &pid)],
            );
        }
        if let Some(fd) = self.server.settings.ready_fd {
            if let Err(error) = ready::announce(fd, &self.urls) {
                self.server.log.warn(
                    "cannot write to --ready-fd",
                    &[("fd", &fd), ("cause", &error)],
                );
            }
        }
    }

    fn boot_failed(&mut self, who: Who, text: &str) -> Result<(), Fatal> {
        match who {
            Who::Mold(generation)
                if self
                    .mold
                    .as_ref()
                    .is_some_and(|mold| mold.generation == generation) =>
            {
                self.mold_failed(text)
            }
            Who::Mold(_) => Ok(()),
            Who::Worker(number) => {
                let delay = self.worker_backoff.fail(Instant::now());
                self.log_boot_error(
                    &format!("worker failed to boot worker={number}"),
                    delay,
                    text,
                );
                Ok(())
            }
        }
    }

    /// Logs a boot error once, however often it comes back.
    fn log_boot_error(&mut self, message: &str, delay: Duration, text: &str) {
        let retry = format!("{}s", delay.as_secs_f64());
        if self.last_boot_error == text {
            self.server
                .log
                .error(message, &[("retry_in", &retry), ("cause", &"as before")]);
        } else {
            text.clone_into(&mut self.last_boot_error);
            self.server
                .log
                .error(message, &[("retry_in", &retry), ("cause", &text)]);
        }
    }

    /// The worker has closed a socket: it is dead or dying, or must be made to.
    fn worker_closed(&mut self, number: u32) {
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
    fn lane_drained(&mut self, number: u32) {
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
    fn lane_stuck(&mut self, number: u32, lane: u16) {
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

    fn log_stack(&self, worker: u32, lane: u16, text: &str) {
        self.server.log.error(
            "stack of the stuck request",
            &[("worker", &worker), ("lane", &lane), ("stack", &text)],
        );
    }

    /// Sends SIGTERM to those whose time is over, and SIGKILL to those who had that.
    fn end_overdue(&mut self, now: Instant) {
        for (number, worker) in self.roster.iter_mut() {
            let Some(pid) = worker.pid.filter(|_| worker.stage.is_overdue(now)) else {
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
    }

    fn reaped(&mut self, pid: u32, status: WaitStatus) -> Result<(), Fatal> {
        if let Some(number) = self.roster.number_of(pid) {
            self.worker_died(number, pid, status);
        } else if self.mold.as_ref().is_some_and(|mold| mold.pid == pid) {
            let text = format!("the mold ended ({})", Ended(status));
            return self.mold_failed(&text);
        }
        Ok(())
    }

    fn worker_died(&mut self, number: u32, pid: u32, status: WaitStatus) {
        let Some(worker) = self.roster.remove(number) else {
            return;
        };
        let fields: [(&'static str, &dyn std::fmt::Display); 4] = [
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

/// Sends a signal to a child that has not been reaped, so that its number is still its own.
pub(super) fn signal_process(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It may be dead already; then its end is reaped next.
        let _ = kill_process(pid, signal);
    }
}
