use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_wire::Kind;
use carat_wire::control::{AskStack, ForkWorker, encode_promote, encode_signal};
use rustix::process::{Pid, Signal, kill_process};
use tokio::task::{spawn_blocking, spawn_local};

use super::channel::Channel;
use super::command::{Command, MemorySubjects};
use super::event::{Event, WorkerTraffic};
use super::mailbox::Mailbox;
use super::memory::{Container, read_memory};
use super::mold_process::MoldProcess;
use super::ready::Ready;
use super::ruby_process::RubyProcess;
use super::worker_sockets::WorkerSockets;
use crate::dispatch::{Lane, WorkerId, carry};
use crate::http::Server;

/// Carries out the supervisor's commands. It owns the sockets and decides nothing.
pub(super) struct Executor {
    server: Rc<Server>,
    mailbox: Mailbox,
    ready: Ready,
    container: Container,
    channels: HashMap<RubyProcess, Channel>,
    lanes: HashMap<WorkerId, Vec<Rc<Lane>>>,
}

impl Executor {
    pub(super) fn new(server: Rc<Server>, mailbox: Mailbox, ready: Ready) -> Executor {
        Executor {
            server,
            mailbox,
            ready,
            container: Container::find(Path::new("/")),
            channels: HashMap::new(),
            lanes: HashMap::new(),
        }
    }

    /// The control group that the server runs in.
    pub(super) fn container(&self) -> &Container {
        &self.container
    }

    /// Carries out a command, and returns what happened at once.
    pub(super) fn carry_out(&mut self, command: Command) -> Option<Event> {
        match command {
            Command::BootMold { generation } => return Some(self.boot_mold(generation)),
            Command::Fork { worker, generation } => return self.fork(worker, generation),
            Command::Drain(worker) => return self.drain(worker),
            Command::End(process) => self.send_signal(process, Kind::Drain),
            Command::EndNow(worker) => self.send_signal(RubyProcess::Worker(worker), Kind::Bye),
            Command::EndWithServer { generation } => {
                self.send_signal(RubyProcess::Mold(generation), Kind::Bye);
            }
            Command::Promote { worker, generation } => self.promote(worker, generation),
            Command::AskStack { tag, request } => {
                let ask = AskStack {
                    lane: tag.lane,
                    request,
                };
                self.send(RubyProcess::Worker(tag.worker), |out| ask.encode(out));
            }
            Command::Terminate { pid } => signal_process(pid, Signal::TERM),
            Command::Kill { pid } => signal_process(pid, Signal::KILL),
            Command::CloseLanes(worker) => self.close_lanes(worker),
            Command::CloseControl(process) => drop(self.channels.remove(&process)),
            Command::ReadMemory(subjects) => self.read_memory(subjects),
            Command::Log(line) => line.write(&self.server.log),
            Command::Announce => self.announce(),
            Command::StopAccepting => self.server.drain(),
            Command::CutOffClients => self.server.dispatcher.give_up_all(),
            // The supervisor returns.
            Command::Exit(_) => {}
        }
        None
    }

    fn announce(&mut self) {
        let server = &self.server;
        self.ready.announce(&server.settings.version, &server.log);
    }

    /// Where the server listens.
    pub(super) fn urls(&self) -> &[String] {
        self.ready.urls()
    }

    /// What the workers did so far.
    pub(super) fn traffic(&self, now: Instant) -> Vec<WorkerTraffic> {
        let of_worker = |(worker, lanes): (&WorkerId, &Vec<Rc<Lane>>)| WorkerTraffic {
            worker: *worker,
            requests: lanes.iter().map(|lane| lane.begun_count()).sum(),
            idle: lanes
                .iter()
                .map(|lane| lane.idle(now))
                .min()
                .unwrap_or(Duration::ZERO),
        };
        self.lanes.iter().map(of_worker).collect()
    }

    /// How many requests a worker was given.
    pub(super) fn requests(&self, worker: WorkerId) -> u64 {
        let lanes = self.lanes.get(&worker).into_iter().flatten();
        lanes.map(|lane| lane.begun_count()).sum()
    }

    /// Sends a frame without a payload on a control socket.
    pub(super) fn send_signal(&self, process: RubyProcess, kind: Kind) {
        self.send(process, |out| encode_signal(out, kind));
    }

    fn send(&self, process: RubyProcess, encode: impl FnOnce(&mut Vec<u8>)) {
        if let Some(channel) = self.channels.get(&process) {
            channel.send(Vec::new(), encode);
        }
    }

    fn boot_mold(&mut self, generation: u32) -> Event {
        let process = RubyProcess::Mold(generation);
        let started = MoldProcess::start(&self.server.settings).and_then(|mold| {
            let channel = Channel::open(mold.control, process, self.mailbox.clone())?;
            Ok((mold.pid, channel))
        });
        match started {
            Ok((pid, channel)) => {
                self.channels.insert(process, channel);
                Event::MoldStarted { generation, pid }
            }
            Err(error) => Event::MoldStartFailed {
                cause: error.to_string(),
            },
        }
    }

    fn fork(&mut self, worker: WorkerId, generation: u32) -> Option<Event> {
        self.try_fork(worker, generation)
            .err()
            .map(|error| Event::ForkFailed {
                worker,
                cause: error.to_string(),
            })
    }

    fn try_fork(&mut self, worker: WorkerId, generation: u32) -> io::Result<()> {
        let lanes = self.server.settings.lanes();
        let sockets = WorkerSockets::new(worker, lanes)?;
        let process = RubyProcess::Worker(worker);
        let channel = Channel::open(sockets.control, process, self.mailbox.clone())?;
        let fork = ForkWorker {
            worker: worker.number,
            generation,
            lanes,
        };
        if let Some(mold) = self.channels.get(&RubyProcess::Mold(generation)) {
            mold.send(sockets.descriptors, |out| fork.encode(out));
        }
        self.channels.insert(process, channel);
        let lanes = self.lanes.entry(worker).or_default();
        for (lane, socket) in sockets.lanes {
            lanes.push(Rc::clone(&lane));
            spawn_local(carry(lane, socket, Rc::clone(&self.server.dispatcher)));
        }
        Ok(())
    }

    fn drain(&self, worker: WorkerId) -> Option<Event> {
        let dispatcher = &self.server.dispatcher;
        dispatcher.drain(worker);
        dispatcher
            .is_drained(worker)
            .then_some(Event::Drained(worker))
    }

    fn promote(&mut self, worker: WorkerId, generation: u32) {
        if let Some(channel) = self.channels.remove(&RubyProcess::Worker(worker)) {
            let process = RubyProcess::Mold(generation);
            channel.rename(process);
            channel.send(Vec::new(), |out| encode_promote(out, generation));
            self.channels.insert(process, channel);
        }
    }

    /// No more frames come on these lanes, even if another process still holds them open.
    fn close_lanes(&mut self, worker: WorkerId) {
        for lane in self.lanes.remove(&worker).into_iter().flatten() {
            lane.worker_died();
        }
    }

    fn read_memory(&self, subjects: MemorySubjects) {
        let (container, mailbox) = (self.container.clone(), self.mailbox.clone());
        spawn_blocking(move || {
            mailbox.event(Event::MemoryRead(read_memory(subjects, &container)));
        });
    }
}

/// Sends a signal to a child that has not been reaped, so that its process id is still its own.
fn signal_process(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It may be dead already; then its exit follows.
        let _ = kill_process(pid, signal);
    }
}
