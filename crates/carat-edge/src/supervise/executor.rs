// A wildcard arm would silently drop a new event or command.
#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_policy::client_memory;
use carat_wire::Kind;
use carat_wire::control::{
    AskStack, ForkApp, ForkWorker, Sampling, encode_begin_profile, encode_promote, encode_signal,
};
use rustix::process::Signal;
use tokio::task::spawn_local;

use super::machine_limits::descriptors_for;
use super::upgrade::Successor;
use crate::supervise::messages::Mailbox;
use crate::supervise::processes::{
    Channel, Generations, Host, OneOffClients, Ready, WorkerSockets, check_worker, client_scheme,
};
use carat_dispatch::{FrameTransport, Lane, WorkerRests, carry};
use carat_exchange::clock;
use carat_http::{EdgeEvent, Part, Server};
use carat_log::{LaneTag, WorkerId};
use carat_machine::Container;
use carat_settings::Settings;
use carat_supervisor::{
    AppCommand, AppEvent, AppProcessId, BootSettings, ClientsCommand, Command, Event, LogLine,
    MemorySubjects, MoldCommand, ProcessEvent, RestartEvent, RubyProcess, UpgradeCommand,
    UpgradeEvent, WorkerCommand, WorkerEvent, WorkerTraffic,
};

/// Carries out the supervisor's commands. The executor owns the sockets, and decides nothing.
pub(super) struct Executor<H> {
    host: H,
    server: Rc<Server>,
    pub(super) mailbox: Mailbox,
    pub(super) ready: Ready,
    /// The control group that the server runs in.
    pub(super) container: Container,
    channels: HashMap<RubyProcess, Channel>,
    generations: Generations,
    lanes: HashMap<WorkerId, Vec<Rc<Lane>>>,
    pub(super) one_offs: OneOffClients,
    /// The new edge of an upgrade.
    pub(super) successor: Option<Successor>,
}

impl<H: Host> Executor<H> {
    pub(super) fn new(host: H, server: Rc<Server>, mailbox: Mailbox, ready: Ready) -> Executor<H> {
        let generations = Generations::new(Rc::clone(server.settings()));
        Executor {
            container: Container::find(host.root()),
            host,
            server,
            mailbox,
            ready,
            channels: HashMap::new(),
            generations,
            lanes: HashMap::new(),
            one_offs: OneOffClients::default(),
            successor: None,
        }
    }

    /// The root of the kernel's files, such as `/proc`.
    pub(super) fn root(&self) -> &Path {
        self.host.root()
    }

    /// Carries out a command. Returns an event if the command caused one at once.
    pub(super) fn carry_out(&mut self, command: Command) -> Option<Event> {
        match command {
            Command::Mold(command) => return self.carry_out_mold(&command),
            Command::Worker(command) => return self.carry_out_worker(&command),
            Command::App(command) => return self.carry_out_app(command),
            Command::Clients(command) => return self.carry_out_clients(command),
            Command::Upgrade(command) => return self.carry_out_upgrade(&command),
            Command::ReadSettings => self.read_settings(),
            Command::End(process) => self.send_signal(process, Kind::Drain),
            Command::Terminate { pid } => self.host.signal(pid, Signal::TERM),
            Command::Kill { pid } => self.host.signal(pid, Signal::KILL),
            Command::CloseControl(process) => self.close_control(process),
            Command::ReadMemory(subjects) => self.read_memory(subjects),
            Command::DivideFiles { workers } => self.divide_files(workers),
            Command::Log(line) => self.log(&line),
            // The supervisor carries these out itself.
            Command::Announce | Command::Exit(_) => {}
        }
        None
    }

    fn carry_out_mold(&mut self, command: &MoldCommand) -> Option<Event> {
        match *command {
            MoldCommand::Boot {
                generation,
                settings,
            } => return Some(self.boot_mold(generation, settings)),
            MoldCommand::Adopt { generation } => self.adopt(generation),
            MoldCommand::Renumber { before, generation } => self.renumber(before, generation),
            MoldCommand::EndWithServer { generation } => {
                self.send_signal(RubyProcess::Mold(generation), Kind::Bye);
            }
        }
        None
    }

    fn carry_out_worker(&mut self, command: &WorkerCommand) -> Option<Event> {
        match *command {
            WorkerCommand::Fork {
                worker,
                generation,
                is_trial,
            } => return self.fork(worker, generation, is_trial),
            WorkerCommand::Check { worker, generation } => self.check(worker, generation),
            WorkerCommand::Admit(worker) => self.admit(worker),
            WorkerCommand::Drain(worker) => return self.drain(worker),
            WorkerCommand::EndNow(worker) => self.tell(worker, Kind::Bye),
            WorkerCommand::AskForkSafety(worker) => self.tell(worker, Kind::AskForkSafety),
            WorkerCommand::TrimMemory(worker) => self.tell(worker, Kind::TrimMemory),
            WorkerCommand::Collect(worker) => {
                WorkerRests::of(self.server.dispatcher()).order(worker, clock::now());
            }
            WorkerCommand::Promote { worker, generation } => self.promote(worker, generation),
            WorkerCommand::AskStack { tag, request } => self.ask_stack(tag, request),
            WorkerCommand::CloseLanes(worker) => self.close_lanes(worker),
        }
        None
    }

    fn carry_out_clients(&mut self, command: ClientsCommand) -> Option<Event> {
        let dispatcher = self.server.dispatcher();
        match command {
            ClientsCommand::HoldRequests => dispatcher.await_workers(clock::now()),
            ClientsCommand::ReleaseRequests => dispatcher.end_wait(clock::now()),
            ClientsCommand::EndRestart(result) => {
                (self.server.parts().iter()).for_each(|part| part.restarted(&result));
            }
            ClientsCommand::Limit { budget } => return Some(self.limit_clients(budget)),
            ClientsCommand::TurnAway => self.server.turn_away(),
            ClientsCommand::StopAccepting(within) => self.server.drain(within),
            ClientsCommand::CutOff => dispatcher.give_up_all(),
        }
        None
    }

    fn carry_out_upgrade(&mut self, command: &UpgradeCommand) -> Option<Event> {
        match *command {
            UpgradeCommand::StartSuccessor => return Some(self.start_successor()),
            UpgradeCommand::KeepServing { .. } => self.successor = None,
            UpgradeCommand::HandOver { .. } => self.server.hand_over(),
        }
        None
    }

    fn tell(&self, worker: WorkerId, kind: Kind) {
        self.send_signal(RubyProcess::Worker(worker), kind);
    }

    fn log(&self, line: &LogLine) {
        line.write(self.server.log());
        self.server.parts().note(&EdgeEvent::Logged {
            message: line.message,
            replaces: line.kind,
        });
    }

    /// Asks a worker for the stack of a request.
    pub(crate) fn ask_stack(&self, tag: LaneTag, request: u32) {
        let ask = AskStack {
            lane: tag.lane,
            request,
        };
        self.send(RubyProcess::Worker(tag.worker), |out| ask.encode(out));
    }

    fn limit_clients(&self, budget: u64) -> Event {
        let bytes = client_memory(self.server.settings().client_memory, budget);
        self.server.client_memory().set_limit(bytes);
        Event::ClientsLimited(self.server.held_limit())
    }

    /// Divides the limit of open files for this many workers, unless hardly any would be left for clients.
    fn divide_files(&self, workers: u32) {
        if let Some(budget) = descriptors_for(self.server.settings(), workers) {
            self.server.divide_files(&budget);
        }
    }

    fn read_memory(&self, subjects: MemorySubjects) {
        let clients = self.server.client_memory().used() + self.server.parts().held();
        self.host
            .read_memory(subjects, clients, self.mailbox.clone());
    }

    pub(super) fn announce(&mut self) {
        let server = &self.server;
        server.parts().iter().for_each(Part::serving);
        self.ready
            .announce(&server.settings().version, server.log());
    }

    fn start_successor(&mut self) -> Event {
        let settings = &self.generations.current;
        let mailbox = self.mailbox.clone();
        match self.host.start_successor(settings, mailbox) {
            Ok(successor) => {
                let pid = successor.pid;
                self.successor = Some(successor);
                Event::Upgrade(UpgradeEvent::SuccessorStarted { pid })
            }
            Err(error) => Event::Upgrade(UpgradeEvent::SuccessorFailed {
                pid: None,
                cause: format!("cannot start a new edge: {error}"),
            }),
        }
    }

    /// The requests, idle times, and tunnels of the workers so far.
    pub(super) fn traffic(&self, now: Instant) -> Vec<WorkerTraffic> {
        let of_worker = |(worker, lanes): (&WorkerId, &Vec<Rc<Lane>>)| WorkerTraffic {
            worker: *worker,
            requests: lanes.iter().map(|lane| lane.begun_count()).sum(),
            idle: lanes
                .iter()
                .map(|lane| lane.idle(now))
                .min()
                .unwrap_or(Duration::ZERO),
            tunnels: lanes.first().map_or(0, |lane| lane.tunnels.count()),
            collects: WorkerRests::of(self.server.dispatcher()).knows(*worker),
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

    /// Tells a worker what to sample.
    pub(super) fn begin_profile(&self, worker: WorkerId, sampling: Sampling) {
        self.send(RubyProcess::Worker(worker), |out| {
            encode_begin_profile(out, sampling);
        });
    }

    fn send(&self, process: RubyProcess, encode: impl FnOnce(&mut Vec<u8>)) {
        if let Some(channel) = self.channels.get(&process) {
            channel.send(Vec::new(), encode);
        }
    }

    fn read_settings(&self) {
        let current = Rc::clone(&self.generations.current);
        self.host.read_settings(current, self.mailbox.clone());
    }

    /// Keeps these settings for the next mold of a restart.
    pub(super) fn keep_settings(&mut self, settings: Rc<Settings>) {
        self.generations.fresh = settings;
    }

    fn adopt(&mut self, generation: u32) {
        let settings = self.generations.adopt(generation);
        self.server.dispatcher().adopt(&settings);
        for part in self.server.parts().iter() {
            part.adopt(&settings, generation);
        }
    }

    fn renumber(&mut self, before: u32, generation: u32) {
        self.generations.renumber(before, generation);
        if let Some(channel) = self.channels.remove(&RubyProcess::Mold(before)) {
            let process = RubyProcess::Mold(generation);
            channel.rename(process);
            self.channels.insert(process, channel);
        }
    }

    fn close_control(&mut self, process: RubyProcess) {
        self.channels.remove(&process);
        if let RubyProcess::Mold(generation) = process {
            self.generations.forget(generation);
        }
    }

    fn check(&self, worker: WorkerId, generation: u32) {
        let settings = self.generations.of(generation);
        let lanes = self.lanes.get(&worker);
        let lane = lanes.and_then(|lanes| lanes.first()).map(Rc::clone);
        let dispatcher = Rc::clone(self.server.dispatcher());
        let scheme = client_scheme(self.server.parts());
        let memory = self.server.client_memory().account();
        let mailbox = self.mailbox.clone();
        spawn_local(async move {
            let result = match lane {
                Some(lane) => check_worker(dispatcher, lane, settings, scheme, memory).await,
                None => Err("the worker is gone".to_owned()),
            };
            mailbox.event(Event::Restart(RestartEvent::Checked { worker, result }));
        });
    }

    fn admit(&self, worker: WorkerId) {
        for lane in self.lanes.get(&worker).into_iter().flatten() {
            self.server.dispatcher().admit_lane(lane);
        }
    }

    fn boot_mold(&mut self, generation: u32, settings: BootSettings) -> Event {
        let settings = self.generations.boot(generation, settings);
        match self.try_boot_mold(generation, &settings) {
            Ok(pid) => Event::Process(ProcessEvent::MoldStarted { generation, pid }),
            Err(error) => Event::Process(ProcessEvent::BootFailed {
                process: RubyProcess::Mold(generation),
                cause: format!("cannot start the mold: {error}"),
            }),
        }
    }

    fn try_boot_mold(&mut self, generation: u32, settings: &Settings) -> io::Result<u32> {
        let (near, far) = self.host.socket_pair()?;
        let pid = self.host.start_mold(generation, settings, far)?;
        let process = RubyProcess::Mold(generation);
        let channel = self.channel(near, process);
        self.channels.insert(process, channel);
        Ok(pid)
    }

    fn fork(&mut self, worker: WorkerId, generation: u32, is_trial: bool) -> Option<Event> {
        self.try_fork(worker, generation, is_trial)
            .err()
            .map(|error| {
                Event::Worker(WorkerEvent::ForkFailed {
                    worker,
                    cause: error.to_string(),
                })
            })
    }

    fn try_fork(&mut self, worker: WorkerId, generation: u32, is_trial: bool) -> io::Result<()> {
        let settings = self.generations.of(generation);
        let sockets = WorkerSockets::new(&self.host, worker, generation, &settings)?;
        let process = RubyProcess::Worker(worker);
        let channel = self.channel(sockets.control, process);
        let fork = ForkWorker {
            worker: worker.number,
            generation,
            lanes: settings.lanes(),
        };
        if let Some(mold) = self.channels.get(&RubyProcess::Mold(generation)) {
            mold.send(sockets.descriptors, |out| fork.encode(out));
        }
        self.channels.insert(process, channel);
        let lanes = self.lanes.entry(worker).or_default();
        for (lane, socket) in sockets.lanes {
            lanes.push(Rc::clone(&lane));
            if is_trial {
                lane.begin_trial();
            }
            spawn_local(carry(lane, socket, Rc::clone(self.server.dispatcher())));
        }
        Ok(())
    }

    /// Serves the control socket of a process.
    fn channel(&self, socket: impl FrameTransport + 'static, process: RubyProcess) -> Channel {
        let parts = Rc::clone(self.server.parts());
        Channel::open(socket, process, self.mailbox.clone(), parts)
    }

    fn carry_out_app(&mut self, command: AppCommand) -> Option<Event> {
        match command {
            AppCommand::Fork {
                id,
                name,
                number,
                generation,
            } => {
                let name = name.as_bytes();
                let fork = ForkApp {
                    number,
                    generation,
                    name,
                };
                let cause = self.fork_app(id, fork).err()?.to_string();
                let process = RubyProcess::App(id);
                Some(Event::Process(ProcessEvent::BootFailed { process, cause }))
            }
            AppCommand::Begin(id) => {
                let channel = self.channels.get(&RubyProcess::App(id));
                if !channel.is_some_and(|channel| self.one_offs.begin(id, channel)) {
                    self.send_signal(RubyProcess::App(id), Kind::Begin);
                }
                None
            }
            AppCommand::OneOffEnded { id, end } => {
                self.one_offs.ended(id, end);
                None
            }
            AppCommand::Signal { pid, signal } => {
                self.host.signal(pid, Signal::from_named_raw(signal)?);
                None
            }
            AppCommand::SignalGroup { id, pid, signal } => {
                let is_left = self.host.signal_group(pid, signal);
                (!is_left).then_some(Event::App(AppEvent::GroupEnded(id)))
            }
        }
    }

    fn fork_app(&mut self, id: AppProcessId, fork: ForkApp<'_>) -> io::Result<()> {
        let (near, far) = self.host.socket_pair()?;
        let process = RubyProcess::App(id);
        let channel = self.channel(near, process);
        if let Some(mold) = self.channels.get(&RubyProcess::Mold(fork.generation)) {
            mold.send(vec![far.into()], |out| fork.encode(out));
        }
        self.channels.insert(process, channel);
        Ok(())
    }

    fn drain(&self, worker: WorkerId) -> Option<Event> {
        let dispatcher = self.server.dispatcher();
        dispatcher.drain(worker);
        let is_drained = self.server.figures().is_drained(worker);
        is_drained.then_some(Event::Worker(WorkerEvent::Drained(worker)))
    }

    fn promote(&mut self, worker: WorkerId, generation: u32) {
        self.generations.boot(generation, BootSettings::Current);
        if let Some(channel) = self.channels.remove(&RubyProcess::Worker(worker)) {
            let process = RubyProcess::Mold(generation);
            channel.rename(process);
            channel.send(Vec::new(), |out| encode_promote(out, generation));
            self.channels.insert(process, channel);
        }
    }

    /// Ends the lanes of a worker. No more frames come on them, even if another process still holds them open.
    fn close_lanes(&mut self, worker: WorkerId) {
        for lane in self.lanes.remove(&worker).into_iter().flatten() {
            lane.worker_died();
        }
    }
}
