use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use carat_policy::{ContainerMemory, EdgeMemory, ReforkRule, client_memory};

use super::fixed;
use crate::command::{
    AppCommand, BootSettings, ClientsCommand, Command, MemorySubjects, MoldCommand, Outcome,
    WorkerCommand,
};
use crate::event::{AppEvent, Event, ProcessEvent, RestartEvent, WorkerEvent};
use crate::exit_status::ExitStatus;
use crate::generation_settings::GenerationSettings;
use crate::limits::Limits;
use crate::reading::{AppReading, MemoryReading, Tick, WorkerTraffic};
use crate::ruby_process::{AppProcessId, RubyProcess};
use crate::state::{RestartReport, State};
use carat_log::{LaneTag, WorkerId};
use carat_settings::ProcessSettings;

pub(super) const MIB: u64 = 1 << 20;
/// The memory of the edge.
pub(super) const EDGE_BYTES: u64 = 10 * MIB;
/// The memory of a mold that loaded the application.
pub(super) const MOLD_BYTES: u64 = 40 * MIB;
/// The memory of a worker.
pub(super) const WORKER_BYTES: u64 = 20 * MIB;

/// The anonymous memory of a mold. A worker is expected to need half of it.
const MOLD_ANONYMOUS: u64 = 2 * WORKER_BYTES;

pub(super) const TICK: Duration = Duration::from_millis(100);

const SIGKILL: i32 = 9;

/// A world around the state: it stands in for the executor, the processes, and the clock.
#[expect(clippy::struct_excessive_bools, reason = "the facts are independent")]
#[derive(Debug)]
pub(super) struct World {
    pub(super) state: State,
    pub(super) limits: Limits,
    /// The further processes that the application declares.
    pub(super) apps: Vec<ProcessSettings>,
    pub(super) now: Instant,
    /// Processes that run, by process id.
    pub(super) processes: BTreeMap<u32, FakeProcess>,
    next_pid: u32,
    /// The reading that was asked for.
    reading: Option<MemorySubjects>,
    /// The configuration is to be read.
    pub(super) reads_settings: bool,
    /// A worker on trial is to answer.
    pub(super) check: Option<WorkerId>,
    pub(super) demand: Tick,
    pub(super) oom_kills: u64,
    pub(super) container_limit: Option<u64>,
    pub(super) processors: u32,
    pub(super) files_divided_among: Option<u32>,
    /// The limit of the memory that clients may make the edge hold, once the server has changed it.
    pub(super) client_memory: Option<u64>,
    /// The generation that was the newest when files changed; `None` once a reload has ended.
    changed_in: Option<u32>,
    /// The system refuses further processes.
    pub(super) no_process_starts: bool,
    /// The memory that clients make the edge hold.
    pub(super) client_bytes: u64,
    /// Private memory of each further process of the application.
    pub(super) app_bytes: u64,
    /// The memory that sharing saves each further process of the application.
    pub(super) saved: u64,
    /// How many processes each further process of the application has forked.
    pub(super) descendants: u32,
    /// The result of measuring the load of further processes; `None` if the measurement fails.
    pub(super) load: Option<f64>,
    /// Whether the process that measures the load hangs.
    pub(super) is_load_stuck: bool,
    /// How many further processes of the application may run at any time.
    pub(super) most_apps: u32,
    /// All one-off processes that were asked for.
    opened: Vec<AppProcessId>,
    /// The one-off processes whose clients have not heard of their end.
    pub(super) one_offs: Vec<AppProcessId>,
    /// Whether the descendants of a further process outlive it.
    pub(super) has_descendants: bool,
    pub(super) commands: Vec<Command>,
    pub(super) outcome: Option<Outcome>,
}

/// A process, and what the state did to it.
#[expect(clippy::struct_excessive_bools, reason = "the facts are independent")]
#[derive(Debug, Clone)]
pub(super) struct FakeProcess {
    pub(super) process: RubyProcess,
    pub(super) said_hello: bool,
    pub(super) generation: u32,
    /// Whether the worker is on trial, and gets no request.
    pub(super) is_on_trial: bool,
    pub(super) is_ready: bool,
    /// Whether the process runs threads that no fork survives.
    pub(super) has_threads: bool,
    /// Whether the process never replies.
    pub(super) is_mute: bool,
    /// Whether the process has requests that it does not finish.
    pub(super) is_busy: bool,
    /// Whether the process takes more than a tick to finish its requests.
    pub(super) is_slow: bool,
    pub(super) is_draining: bool,
    pub(super) is_told_to_end: bool,
    pub(super) is_killed: bool,
    /// Whether either side has closed its control socket.
    pub(super) is_closed: bool,
    pub(super) requests: u64,
    pub(super) idle: Duration,
    pub(super) tunnels: usize,
    pub(super) bytes: u64,
    /// The memory of the worker after a full garbage collection; `None` if it cannot be told to run one.
    pub(super) collects_to: Option<u64>,
    /// Whether the process measures the load of other processes.
    pub(super) is_meter: bool,
}

impl World {
    pub(super) fn new(limits: Limits) -> World {
        World::with_refork(limits, ReforkRule::Off)
    }

    pub(super) fn with_refork(limits: Limits, refork: ReforkRule) -> World {
        World::with_apps(limits, refork, Vec::new())
    }

    pub(super) fn with_apps(
        limits: Limits,
        refork: ReforkRule,
        apps: Vec<ProcessSettings>,
    ) -> World {
        let now = Instant::now();
        let first = GenerationSettings {
            limits,
            refork,
            apps: apps.clone(),
        };
        World {
            state: State::new(first, 0, now),
            limits,
            now,
            processes: BTreeMap::new(),
            next_pid: 100,
            reading: None,
            reads_settings: false,
            check: None,
            demand: Tick {
                has_clients: true,
                ..Tick::default()
            },
            oom_kills: 0,
            container_limit: None,
            processors: 1,
            files_divided_among: None,
            client_memory: None,
            changed_in: None,
            no_process_starts: false,
            client_bytes: 0,
            app_bytes: 0,
            saved: 0,
            descendants: 0,
            load: Some(0.6),
            is_load_stuck: false,
            most_apps: apps.iter().map(|it| it.count).sum(),
            opened: Vec::new(),
            one_offs: Vec::new(),
            has_descendants: false,
            commands: Vec::new(),
            outcome: None,
            apps,
        }
    }

    /// A world in which all workers serve.
    pub(super) fn serving(limits: Limits, refork: ReforkRule) -> World {
        let mut world = World::with_refork(limits, refork);
        world.settle();
        world.commands.clear();
        world
    }

    /// A world in which all workers serve and no worker becomes a mold.
    pub(super) fn of(limits: Limits) -> World {
        World::serving(limits, ReforkRule::Off)
    }

    /// A world whose first worker has been forked, and its process id.
    pub(super) fn booting(workers: u32) -> (World, u32) {
        let mut world = World::new(fixed(workers));
        world.tick();
        world.get_ready(100);
        let newest = world.newest();
        (world, newest)
    }

    /// Sends an event, and carries out what follows.
    pub(super) fn send(&mut self, event: Event) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let commands = self.state.on(event, self.now);
            for (index, command) in commands.iter().enumerate() {
                self.check_fork(command);
                self.check_drain(&commands[..index], command);
                self.check_restart(command);
                self.check_boot(command);
                events.extend(self.carry_out(command));
            }
            self.commands.extend(commands);
        }
        self.check_pids();
        self.check_apps();
    }

    /// Whether the server was told to accept no clients.
    pub(super) fn is_accepting_over(&self) -> bool {
        let mut commands = self.commands.iter();
        commands
            .any(|command| matches!(command, Command::Clients(ClientsCommand::StopAccepting(_))))
    }

    /// A tick after 100 ms, with what the workers did.
    pub(super) fn tick(&mut self) {
        self.now += TICK;
        self.send_traffic();
        self.send(Event::Tick(self.demand));
    }

    pub(super) fn wait(&mut self, time: Duration) {
        self.now += time;
        self.tick();
    }

    pub(super) fn stop(&mut self) {
        self.send(Event::StopRequested);
    }

    fn send_traffic(&mut self) {
        let traffic = self.processes.values().filter_map(|it| match it.process {
            RubyProcess::Worker(worker) => Some(WorkerTraffic {
                worker,
                requests: it.requests,
                idle: it.idle,
                tunnels: it.tunnels,
                collects: it.collects_to.is_some(),
            }),
            RubyProcess::Mold(_) | RubyProcess::App(_) => None,
        });
        let traffic = traffic.collect();
        self.send(Event::Traffic(traffic));
    }

    fn carry_out(&mut self, command: &Command) -> Option<Event> {
        match command {
            Command::Mold(command) => return self.carry_out_mold(command),
            Command::Worker(command) => return self.carry_out_worker(command),
            Command::App(command) => return self.carry_out_app(command),
            Command::Clients(command) => return self.carry_out_clients(command),
            Command::ReadSettings => self.reads_settings = true,
            Command::End(process) => self.with(*process, |it| it.is_told_to_end = true),
            Command::Terminate { pid } => self.with_pid(*pid, |it| it.is_told_to_end = true),
            Command::Kill { pid } => self.with_pid(*pid, |it| it.is_killed = true),
            Command::CloseControl(process) => self.with(*process, |it| it.is_closed = true),
            Command::ReadMemory(subjects) => {
                assert!(self.reading.is_none(), "one reading at a time");
                self.reading = Some(subjects.clone());
            }
            Command::DivideFiles { workers } => self.files_divided_among = Some(*workers),
            Command::Exit(outcome) => self.outcome = Some(outcome.clone()),
            Command::Upgrade(_) | Command::Log(_) | Command::Announce => {}
        }
        None
    }

    fn carry_out_mold(&mut self, command: &MoldCommand) -> Option<Event> {
        match *command {
            MoldCommand::Boot { generation, .. } => return Some(self.boot_mold(generation)),
            MoldCommand::EndWithServer { generation } => {
                self.with(RubyProcess::Mold(generation), |it| it.is_told_to_end = true);
            }
            MoldCommand::Renumber { before, generation } => {
                self.with(RubyProcess::Mold(before), |it| {
                    it.process = RubyProcess::Mold(generation);
                    it.generation = generation;
                });
            }
            MoldCommand::Adopt { .. } => {}
        }
        None
    }

    fn boot_mold(&mut self, generation: u32) -> Event {
        let process = RubyProcess::Mold(generation);
        Event::Process(if self.no_process_starts {
            let cause = "cannot start the mold: Resource temporarily unavailable".to_owned();
            ProcessEvent::BootFailed { process, cause }
        } else {
            let pid = self.start(process, MOLD_BYTES);
            ProcessEvent::MoldStarted { generation, pid }
        })
    }

    fn carry_out_worker(&mut self, command: &WorkerCommand) -> Option<Event> {
        match *command {
            WorkerCommand::Fork {
                worker,
                generation,
                is_trial,
            } => {
                let pid = self.start(RubyProcess::Worker(worker), WORKER_BYTES);
                let forked = self.process(pid);
                (forked.generation, forked.is_on_trial) = (generation, is_trial);
            }
            WorkerCommand::Check { worker, .. } => self.check = Some(worker),
            WorkerCommand::Admit(worker) => {
                self.with(RubyProcess::Worker(worker), |it| it.is_on_trial = false);
            }
            WorkerCommand::Drain(worker) => return self.drain(worker),
            WorkerCommand::EndNow(worker) => {
                self.with(RubyProcess::Worker(worker), |it| it.is_told_to_end = true);
            }
            WorkerCommand::AskForkSafety(worker) => return self.reply_fork_safety(worker),
            WorkerCommand::Promote { worker, generation } => {
                self.with(RubyProcess::Worker(worker), |it| {
                    it.process = RubyProcess::Mold(generation);
                    it.generation = generation;
                    it.is_ready = false;
                    it.is_draining = false;
                });
            }
            WorkerCommand::Collect(worker) => return Some(self.collect(worker)),
            WorkerCommand::TrimMemory(_)
            | WorkerCommand::AskStack { .. }
            | WorkerCommand::CloseLanes(_) => {}
        }
        None
    }

    fn carry_out_clients(&mut self, command: &ClientsCommand) -> Option<Event> {
        match command {
            ClientsCommand::Limit { budget } => return Some(self.limit_clients(*budget)),
            ClientsCommand::EndRestart(result) => self.end_reload(result),
            ClientsCommand::HoldRequests
            | ClientsCommand::ReleaseRequests
            | ClientsCommand::TurnAway
            | ClientsCommand::StopAccepting(_)
            | ClientsCommand::CutOff => {}
        }
        None
    }

    /// Source files change.
    pub(super) fn change_files(&mut self) {
        self.changed_in = Some(self.state.processes().molds.generation);
        self.send(Event::Restart(RestartEvent::CodeChanged));
    }

    /// Whether clients wait for new code.
    pub(super) fn awaits_reload(&self) -> bool {
        self.changed_in.is_some() && self.outcome.is_none()
    }

    /// Ends a reload. Asserts that no worker that takes requests has code from before the last change.
    fn end_reload(&mut self, result: &Result<(), String>) {
        let changed_in = self.changed_in.take().filter(|_| result.is_ok());
        let mut serving = self.serving_processes();
        assert!(
            self.state.is_stopping()
                || serving.all(|(_, it)| changed_in.is_none_or(|before| it.generation > before)),
            "old code is left: {self:#?}"
        );
    }

    /// The configuration was read, with these limits.
    pub(super) fn finish_settings(&mut self, limits: Limits) {
        if std::mem::take(&mut self.reads_settings) {
            let refork = ReforkRule::Off;
            let settings = Box::new(GenerationSettings {
                limits,
                refork,
                apps: self.apps.clone(),
            });
            self.send(Event::Restart(RestartEvent::SettingsRead {
                settings,
                unchanged: Vec::new(),
            }));
        }
    }

    /// The worker on trial answers.
    pub(super) fn finish_check(&mut self, result: Result<(), String>) {
        if let Some(worker) = self.check.take() {
            self.send(Event::Restart(RestartEvent::Checked { worker, result }));
        }
    }

    fn start(&mut self, process: RubyProcess, bytes: u64) -> u32 {
        let pid = self.next_pid;
        self.next_pid += 1;
        let started = FakeProcess {
            process,
            said_hello: matches!(process, RubyProcess::Mold(_)),
            generation: 0,
            is_on_trial: false,
            is_ready: false,
            has_threads: false,
            is_mute: false,
            is_busy: false,
            is_slow: false,
            is_draining: false,
            is_told_to_end: false,
            is_killed: false,
            is_closed: false,
            requests: 0,
            idle: Duration::ZERO,
            tunnels: 0,
            bytes,
            collects_to: None,
            is_meter: false,
        };
        self.processes.insert(pid, started);
        pid
    }

    fn carry_out_app(&mut self, command: &AppCommand) -> Option<Event> {
        match *command {
            AppCommand::Fork {
                id,
                generation,
                number,
                ..
            } => {
                let pid = self.start(RubyProcess::App(id), 0);
                let forked = self.process(pid);
                (forked.generation, forked.is_meter) = (generation, number == 0);
            }
            AppCommand::Signal { pid, .. } => self.with_pid(pid, |it| it.is_told_to_end = true),
            AppCommand::SignalGroup { id, pid, signal } => {
                return self.signal_group(id, pid, signal);
            }
            AppCommand::Begin(id) => return self.measure(id),
            AppCommand::OneOffEnded { id, .. } => {
                let index = self.one_offs.iter().position(|it| *it == id);
                self.one_offs
                    .remove(index.expect("its client hears of one end"));
            }
        }
        None
    }

    /// A process that measures the load reports it, fails, or hangs.
    fn measure(&mut self, id: AppProcessId) -> Option<Event> {
        let process = RubyProcess::App(id);
        let is_meter = self.find(process).is_some_and(|(_, it)| it.is_meter);
        if !is_meter || self.is_load_stuck {
            return None;
        }
        self.with(process, |it| it.is_told_to_end = true);
        Some(match self.load {
            Some(load) => Event::App(AppEvent::Load { meter: id, load }),
            None => Event::Process(ProcessEvent::BootFailed {
                process,
                cause: "no queue".to_owned(),
            }),
        })
    }

    fn signal_group(&mut self, id: AppProcessId, pid: u32, signal: i32) -> Option<Event> {
        self.with_pid(pid, |it| {
            it.is_killed |= signal == SIGKILL;
            it.is_told_to_end |= signal != 0;
        });
        let is_left = self.has_descendants || self.processes.contains_key(&pid);
        (!is_left).then_some(Event::App(AppEvent::GroupEnded(id)))
    }

    fn drain(&mut self, worker: WorkerId) -> Option<Event> {
        let process = RubyProcess::Worker(worker);
        self.with(process, |it| it.is_draining = true);
        let is_busy = self.find(process).is_some_and(|(_, it)| it.is_busy);
        (!is_busy).then_some(Event::Worker(WorkerEvent::Drained(worker)))
    }

    fn collect(&mut self, worker: WorkerId) -> Event {
        let process = RubyProcess::Worker(worker);
        self.with(process, |it| it.bytes = it.collects_to.unwrap_or(it.bytes));
        let took = Duration::from_millis(80);
        Event::Process(ProcessEvent::Collected { process, took })
    }

    fn reply_fork_safety(&self, worker: WorkerId) -> Option<Event> {
        let (_, asked) = self.find(RubyProcess::Worker(worker))?;
        let threads = || Err("Ruby threads are left running".to_owned());
        let result = if asked.has_threads { threads() } else { Ok(()) };
        (!asked.is_mute).then_some(Event::Worker(WorkerEvent::ForkSafety { worker, result }))
    }

    fn with(&mut self, process: RubyProcess, change: impl FnOnce(&mut FakeProcess)) {
        let mut processes = self.processes.values_mut();
        if let Some(found) = processes.find(|it| it.process == process) {
            change(found);
        }
    }

    fn with_pid(&mut self, pid: u32, change: impl FnOnce(&mut FakeProcess)) {
        if let Some(found) = self.processes.get_mut(&pid) {
            change(found);
        }
    }

    pub(super) fn find(&self, process: RubyProcess) -> Option<(u32, &FakeProcess)> {
        let mut processes = self.processes.iter();
        let found = processes.find(|(_, it)| it.process == process);
        found.map(|(pid, it)| (*pid, it))
    }
}

/// The actions of processes.
impl World {
    pub(super) fn say_hello(&mut self, pid: u32) {
        let Some(found) = self.processes.get_mut(&pid).filter(|it| !it.is_closed) else {
            return;
        };
        found.said_hello = true;
        let process = found.process;
        self.send(Event::Process(ProcessEvent::Hello { process, pid }));
    }

    pub(super) fn get_ready(&mut self, pid: u32) {
        let found = self.processes.get_mut(&pid);
        let Some(found) = found.filter(|it| it.said_hello && !it.is_closed) else {
            return;
        };
        found.is_ready = true;
        let process = found.process;
        self.send(Event::Process(ProcessEvent::Ready(process)));
    }

    pub(super) fn fail_boot(&mut self, process: RubyProcess, cause: &str) {
        let cause = cause.to_owned();
        self.send(Event::Process(ProcessEvent::BootFailed { process, cause }));
    }

    /// The process forked last serves.
    pub(super) fn start_newest(&mut self) {
        let newest = self.newest();
        self.say_hello(newest);
        self.get_ready(newest);
        self.tick();
    }

    /// The process exits by itself.
    pub(super) fn die(&mut self, pid: u32) {
        self.exit(pid, ExitStatus::Exited(1), false);
    }

    /// Somebody kills the process.
    pub(super) fn kill(&mut self, pid: u32) {
        self.exit(pid, self.killed(), true);
    }

    /// The process ends; its exit is seen before its closed socket, or after.
    pub(super) fn exit(&mut self, pid: u32, status: ExitStatus, is_closed_first: bool) {
        let Some(ended) = self.processes.remove(&pid) else {
            return;
        };
        let closed = (!ended.is_closed).then_some(ended.process);
        if let Some(process) = closed.filter(|_| is_closed_first) {
            self.send(Event::Process(ProcessEvent::Closed(process)));
        }
        self.send(Event::Process(ProcessEvent::Exited { pid, status }));
        if let Some(process) = closed.filter(|_| !is_closed_first) {
            self.send(Event::Process(ProcessEvent::Closed(process)));
        }
    }

    /// The process was killed, or ended as it was told to.
    pub(super) fn end(&mut self, pid: u32) {
        let is_killed = self.processes.get(&pid).is_some_and(|it| it.is_killed);
        let status = if is_killed {
            self.killed()
        } else {
            ExitStatus::Exited(0)
        };
        self.exit(pid, status, false);
    }

    pub(super) fn killed(&self) -> ExitStatus {
        ExitStatus::Signaled {
            signal: SIGKILL,
            oom_kills: self.oom_kills,
        }
    }

    pub(super) fn get_stuck(&mut self, pid: u32) {
        if let Some(RubyProcess::Worker(worker)) = self.processes.get(&pid).map(|it| it.process) {
            let tag = LaneTag { worker, lane: 0 };
            self.send(Event::Worker(WorkerEvent::LaneStuck { tag, request: 1 }));
        }
    }

    /// The process finishes its requests.
    pub(super) fn finish(&mut self, pid: u32) {
        let Some(found) = self.processes.get_mut(&pid) else {
            return;
        };
        found.is_busy = false;
        if let (RubyProcess::Worker(worker), true) = (found.process, found.is_draining) {
            self.send(Event::Worker(WorkerEvent::Drained(worker)));
        }
    }

    fn limit_clients(&mut self, budget: u64) -> Event {
        let chosen = self.limits.client_memory;
        let bytes = self
            .container_limit
            .map_or(chosen, |_| client_memory(None, budget));
        self.client_memory = Some(bytes);
        Event::ClientsLimited(bytes)
    }

    /// The reading that was asked for is there.
    pub(super) fn finish_reading(&mut self) {
        let Some(subjects) = self.reading.take() else {
            return;
        };
        let bytes = |pid: u32| self.processes.get(&pid).map(|it| it.bytes);
        let mold = subjects.mold.filter(|(_, pid)| bytes(*pid).is_some());
        let others = subjects.others.iter().filter_map(|pid| bytes(*pid));
        let workers = subjects.workers.iter();
        let workers: Vec<_> = workers
            .filter_map(|subject| Some((*subject, bytes(subject.pid)?)))
            .collect();
        let all = workers.iter().map(|(_, bytes)| *bytes).chain(others);
        let apps = subjects.apps.iter().map(|_| self.app_bytes);
        let ruby = all.chain(mold.and_then(|(_, pid)| bytes(pid)));
        let ruby = ruby.chain(apps).sum::<u64>();
        self.send_traffic();
        self.send(Event::MemoryRead(MemoryReading {
            at: self.now,
            took: Duration::ZERO,
            edge: EdgeMemory {
                total: EDGE_BYTES + self.client_bytes,
                anonymous: EDGE_BYTES + self.client_bytes,
                clients: self.client_bytes,
            },
            ruby,
            mold: mold.map(|(generation, _)| (generation, MOLD_ANONYMOUS)),
            mold_peak: None,
            workers,
            apps: subjects
                .apps
                .iter()
                .map(|it| AppReading {
                    id: it.id,
                    private: self.app_bytes,
                    saved: self.saved,
                    descendants: self.descendants,
                })
                .collect(),
            processes: Vec::new(),
            container: ContainerMemory {
                oom_kills: self.oom_kills,
                limit: self.container_limit,
                ..ContainerMemory::default()
            },
            processors: self.processors,
        }));
    }

    /// Memory is read again, this many times.
    pub(super) fn read(&mut self, times: u32) {
        for _ in 0..times {
            self.wait(Duration::from_secs(6));
            self.finish_reading();
        }
    }

    /// Settles until the message is logged.
    #[track_caller]
    pub(super) fn settle_until(&mut self, message: &str) {
        self.settle_while(|world| world.count(message) == 0);
    }

    #[track_caller]
    pub(super) fn settle_while(&mut self, waits: impl Fn(&World) -> bool) {
        for _ in 0..200 {
            if !waits(self) {
                return;
            }
            self.settle_for(1);
        }
        panic!("it lasts: {:?}", self.messages());
    }

    /// The clients leave, and the server has finished.
    #[track_caller]
    pub(super) fn assert_finishes(&mut self) {
        self.demand.has_clients = false;
        self.settle();
        assert_eq!(self.outcome, Some(Outcome::Finished));
    }

    /// Lets all processes do what is expected of them, for a minute of ticks.
    pub(super) fn settle(&mut self) {
        self.settle_for(600);
    }

    pub(super) fn settle_for(&mut self, ticks: u32) {
        for _ in 0..ticks {
            if self.outcome.is_some() {
                return;
            }
            self.finish_check(Ok(()));
            self.settle_without_check();
        }
    }

    /// Runs one tick in which all goes well, except that a worker on trial does not answer.
    pub(super) fn settle_without_check(&mut self) {
        for (pid, it) in self.processes.clone() {
            let is_app = matches!(it.process, RubyProcess::App(_));
            if is_app && it.is_busy && !it.is_killed {
                // The process has a job.
            } else if it.is_killed || it.is_told_to_end || it.is_closed {
                self.end(pid);
            } else if it.is_slow {
                // The process has a slow response.
            } else if it.is_busy || it.is_draining {
                self.finish(pid);
            } else if !it.said_hello {
                self.say_hello(pid);
            } else if !it.is_ready {
                self.get_ready(pid);
            }
        }
        self.finish_reading();
        self.finish_settings(self.limits);
        self.tick();
    }
}

/// The invariants of the world.
impl World {
    /// A worker is forked only if it fits the budget, or none stays.
    fn check_fork(&self, command: &Command) {
        let (Command::Worker(WorkerCommand::Fork { .. }), carat_policy::MemoryLimit::Bytes(limit)) =
            (command, self.limits.memory)
        else {
            return;
        };
        let running = self.processes.values().filter(|it| !it.is_closed);
        let used = running.map(|it| it.bytes).sum::<u64>() + EDGE_BYTES;
        let staying = self.state.processes().workers.staying();
        // The state counts the new one already.
        assert!(
            used + WORKER_BYTES <= limit || staying <= 1,
            "forked beyond the budget: {used} of {limit}, {staying} workers"
        );
    }

    /// The mold of a restart boots only if it fits the budget.
    fn check_boot(&self, command: &Command) {
        let settings = BootSettings::New;
        let carat_policy::MemoryLimit::Bytes(limit) = self.limits.memory else {
            return;
        };
        let running = self.processes.values().filter(|it| !it.is_closed);
        let used = running.map(|it| it.bytes).sum::<u64>() + EDGE_BYTES;
        let is_new = matches!(command, Command::Mold(MoldCommand::Boot { settings: it, .. }) if *it == settings);
        let holds = !is_new || used.saturating_add(MOLD_BYTES) <= limit;
        assert!(holds, "a second mold beyond the budget: {used} of {limit}");
    }

    /// A worker that could stay is drained only while another one serves.
    fn check_drain(&self, before: &[Command], command: &Command) {
        let Command::Worker(WorkerCommand::Drain(worker)) = command else {
            return;
        };
        let reason = before.iter().rev().find_map(logged);
        let is_chosen = matches!(reason, Some("worker is replaced" | "idle worker ends"));
        let process = RubyProcess::Worker(*worker);
        let others = self.serving_processes();
        let others = others.filter(|(_, it)| it.process != process);
        let holds = !is_chosen || others.count() > 0;
        assert!(holds, "drained the last serving worker: {reason:?}");
    }

    /// When a restart is done, no worker of another generation takes requests.
    fn check_restart(&self, command: &Command) {
        let is_done = matches!(command, Command::Log(line) if line.message == "restarted");
        let newest = self.state.processes().molds.oldest_generation;
        let mut old = self.serving_processes();
        let holds = !is_done || old.all(|(_, it)| it.generation >= newest);
        assert!(holds, "old code is left: {self:#?}");
    }

    /// Each process is known to the state, or was killed, or finds its control socket closed.
    fn check_pids(&self) {
        let mut known = self.state.processes().running();
        known.extend(self.state.apps().running().into_iter().map(|(it, ..)| it));
        for (pid, it) in self.processes.iter().filter(|(_, it)| !it.is_meter) {
            let count = known.iter().filter(|known| known.pid == *pid).count();
            let is_cared_for = count == 1 || it.is_killed || it.is_closed || !it.said_hello;
            let holds = is_cared_for || self.outcome.is_some();
            assert!(holds, "forgot process {pid}: {it:?}");
        }
    }

    /// At any time, at most `most_apps` further processes run: their count, unless they overlap.
    fn check_apps(&self) {
        let (running, most) = (self.members().len(), self.most_apps);
        assert!(running <= most as usize, "{running} of {most}: {self:#?}");
    }

    pub(super) fn serving_processes(&self) -> impl Iterator<Item = (u32, &FakeProcess)> {
        let processes = self.processes.iter().map(|(pid, it)| (*pid, it));
        processes.filter(|(_, it)| {
            let is_worker = matches!(it.process, RubyProcess::Worker(_));
            let is_serving = it.is_ready && !it.is_on_trial;
            is_worker && is_serving && !it.is_draining && !it.is_closed && !it.is_killed
        })
    }
}

/// The questions of tests.
impl World {
    /// Process ids of the workers that serve.
    pub(super) fn serving_pids(&self) -> Vec<u32> {
        self.serving_processes().map(|(pid, _)| pid).collect()
    }

    /// How many workers serve.
    pub(super) fn workers(&self) -> usize {
        self.serving_pids().len()
    }

    /// The generations of the workers that serve.
    pub(super) fn generations(&self) -> Vec<u32> {
        let generations = self.serving_processes().map(|(_, it)| it.generation);
        generations.collect()
    }

    pub(super) fn has(&self, command: &Command) -> bool {
        self.commands.contains(command)
    }

    /// The state of the restart that was requested last.
    pub(super) fn report(&self) -> RestartReport {
        let restarts = self.state.restarts();
        restarts.report(restarts.latest()).expect("a restart")
    }

    /// The reason why the restart that was requested last has failed.
    pub(super) fn failure(&self) -> String {
        match self.report() {
            RestartReport::Failed(cause) => cause,
            other => panic!("{other:?}"),
        }
    }

    /// The process forked last.
    pub(super) fn newest(&self) -> u32 {
        *self.processes.keys().next_back().expect("a process")
    }

    /// The process ids of the further processes of the application that have a control socket.
    pub(super) fn app_pids(&self) -> Vec<u32> {
        let processes = self.processes.iter();
        let is_app = |it: &FakeProcess| matches!(it.process, RubyProcess::App(_));
        let apps = processes.filter(|(_, it)| is_app(it) && (it.said_hello || !it.is_closed));
        apps.map(|(pid, _)| *pid).collect()
    }

    /// The processes of `app_pids` that run the application's block.
    pub(super) fn members(&self) -> Vec<u32> {
        let pids = self.app_pids().into_iter();
        let is_one_off = |it: &FakeProcess| match it.process {
            RubyProcess::App(id) => self.opened.contains(&id),
            RubyProcess::Mold(_) | RubyProcess::Worker(_) => false,
        };
        let others = |it: &FakeProcess| it.is_meter || is_one_off(it);
        pids.filter(|pid| !others(&self.processes[pid])).collect()
    }

    /// The processes that measure the load of the others.
    pub(super) fn meters(&self) -> Vec<u32> {
        let pids = self.app_pids().into_iter();
        pids.filter(|pid| self.processes[pid].is_meter).collect()
    }

    /// A client of the control socket wants a one-off process.
    pub(super) fn open_one_off(&mut self) -> AppProcessId {
        let id = self.state.apps().next_id();
        self.one_offs.push(id);
        self.opened.push(id);
        self.send(Event::App(AppEvent::OneOffRequested {
            id,
            name: "one-off",
        }));
        id
    }

    /// The process ids of all molds.
    pub(super) fn mold_pids(&self) -> Vec<u32> {
        let molds = self.processes.iter();
        let molds = molds.filter(|(_, it)| matches!(it.process, RubyProcess::Mold(_)));
        molds.map(|(pid, _)| *pid).collect()
    }

    pub(super) fn worker(&self, pid: u32) -> WorkerId {
        match self.processes[&pid].process {
            RubyProcess::Worker(worker) => worker,
            other => panic!("process {pid} is {other:?}"),
        }
    }

    pub(super) fn process(&mut self, pid: u32) -> &mut FakeProcess {
        self.processes.get_mut(&pid).expect("a running process")
    }

    /// The messages that were logged since the commands were cleared.
    pub(super) fn messages(&self) -> Vec<&'static str> {
        self.commands.iter().filter_map(logged).collect()
    }

    /// How often a message was logged.
    pub(super) fn count(&self, message: &str) -> usize {
        let messages = self.messages();
        messages.iter().filter(|it| **it == message).count()
    }

    /// How many workers were forked since the commands were cleared.
    pub(super) fn forks(&self) -> usize {
        let forks = self.commands.iter();
        forks
            .filter(|it| matches!(it, Command::Worker(WorkerCommand::Fork { .. })))
            .count()
    }
}

/// The message of a command that writes to the log.
fn logged(command: &Command) -> Option<&'static str> {
    if let Command::Log(line) = command {
        Some(line.message)
    } else {
        None
    }
}
