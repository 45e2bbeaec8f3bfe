// A wildcard arm would silently drop a new event or command.
#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use carat_policy::Elastic;
use carat_wire::Kind;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::executor::Executor;
use super::upgrade::{EdgeHandover, Predecessor};
use crate::supervise::messages::{FreshSettings, Mailbox, Message};
use crate::supervise::processes::{Host, Ready};
use crate::supervise::reports::ProcessReports;
use crate::supervise::signals_and_files::{ServiceManager, SignalRequest, Signals};
use carat_machine::Machine;
use carat_supervisor::{
    ClientsCommand, Command, Event, GenerationSettings, MemoryReading, Outcome, ProcessEvent,
    RestartEvent, RubyProcess, State, Tick, UpgradeEvent, WorkerCommand, WorkerEvent,
};

use carat_dispatch::{LaneEvent, WorkerRests};
use carat_exchange::clock;
use carat_http::{Part, Server, TICK};
use carat_log::{Field, Log, WorkerId};

/// Connects the state with the outside: messages and signals become events for the state, and its commands are carried
/// out.
pub(crate) struct Supervisor<H> {
    pub(super) server: Rc<Server>,
    messages: UnboundedReceiver<Message>,
    lane_events: UnboundedReceiver<LaneEvent>,
    pub(super) state: State,
    pub(super) executor: Executor<H>,
    pub(super) reports: ProcessReports,
    pub(super) service_manager: ServiceManager,
    pub(super) handover: EdgeHandover,
    ticks: Interval,
    /// How long the server has stood still in total. That time counts against no timeout.
    lost: Duration,
}

impl<H: Host> Supervisor<H> {
    pub(crate) fn new(
        host: H,
        server: Rc<Server>,
        mailbox: Mailbox,
        messages: UnboundedReceiver<Message>,
        lane_events: UnboundedReceiver<LaneEvent>,
        ready: Ready,
    ) -> Supervisor<H> {
        let settings = server.settings();
        let machine = Machine::read(host.root());
        let clients = server.held_limit();
        let first = GenerationSettings::new(settings, machine.processors, machine.memory, clients);
        let executor = Executor::new(host, Rc::clone(&server), mailbox.clone(), ready);
        let oom_kills = executor.container.oom_kills();
        WorkerRests::of(server.dispatcher()).note_processors(machine.processors);
        Supervisor {
            state: State::new(first, oom_kills, clock::now()),
            messages,
            lane_events,
            executor,
            reports: ProcessReports::new(mailbox, machine.memory),
            service_manager: ServiceManager::from_environment(),
            handover: EdgeHandover::default(),
            ticks: ticks(TICK),
            lost: Duration::ZERO,
            server,
        }
    }

    /// Accepts clients at once; with an old edge, when the workers are ready.
    pub(crate) fn after(
        mut self,
        predecessor: Option<Rc<Predecessor>>,
    ) -> io::Result<Supervisor<H>> {
        let Some(predecessor) = predecessor else {
            self.server.life().open();
            return Ok(self);
        };
        self.state.succeed_server();
        self.service_manager.fall_silent();
        let mailbox = self.executor.mailbox.clone();
        self.handover.follow(predecessor, mailbox)?;
        Ok(self)
    }

    /// Supervises the processes until the server ends.
    pub(crate) async fn run(mut self, mut signals: Signals) -> Outcome {
        loop {
            let outcome = tokio::select! {
                Some(message) = self.messages.recv() => self.receive(message),
                Some(event) = self.lane_events.recv() => self.lane_event(event),
                request = signals.next() => self.handle_signal(request).await,
                _ = self.ticks.tick() => {
                    signals.tick(clock::now());
                    self.tick()
                }
            };
            if let Some(outcome) = outcome {
                match &outcome {
                    Outcome::Failed(cause) => self.service_manager.failed(cause),
                    Outcome::Finished | Outcome::Cut => log_with_pid(self.server.log(), "stopped"),
                }
                return outcome;
            }
        }
    }

    /// Passes events to the state, carries out its commands, and handles the events that the commands cause at once.
    pub(super) fn handle(&mut self, events: impl Into<VecDeque<Event>>) -> Option<Outcome> {
        self.notice_freeze();
        let mut events = events.into();
        while let Some(event) = events.pop_front() {
            let now = clock::now().checked_sub(self.lost);
            let now = now.expect("the time lost is a part of the time since the start");
            for command in self.state.on(event, now) {
                if let Command::Exit(outcome) = command {
                    return Some(outcome);
                }
                if let Err(cause) = self.note(&command) {
                    return Some(Outcome::Failed(cause));
                }
                events.extend(self.executor.carry_out(command));
            }
        }
        let upgrading = self.state.upgrades().is_under_way().then_some("upgrading");
        let restarting = self.state.restarts().stage().map(|_| "restarting");
        self.service_manager
            .follow_restart(upgrading.or(restarting));
        None
    }

    /// Reports a command before it is carried out: to the service manager, to the other edge, and to clients that wait
    /// for a worker's answer. The error says why this edge cannot follow the old one.
    fn note(&mut self, command: &Command) -> Result<(), String> {
        match command {
            Command::Announce => return self.begin_to_serve(),
            Command::Worker(command) => self.note_worker(command),
            Command::Clients(command) => self.note_clients(command),
            Command::Upgrade(command) => self.handover.note(command, &mut self.service_manager),
            Command::Mold(_)
            | Command::App(_)
            | Command::ReadSettings
            | Command::End(_)
            | Command::Terminate { .. }
            | Command::Kill { .. }
            | Command::CloseControl(_)
            | Command::ReadMemory(_)
            | Command::DivideFiles { .. }
            | Command::Log(_)
            | Command::Exit(_) => {}
        }
        Ok(())
    }

    fn note_worker(&mut self, command: &WorkerCommand) {
        match command {
            WorkerCommand::Promote { worker, .. } => {
                self.forget_questions(RubyProcess::Worker(*worker), "became the mold");
            }
            WorkerCommand::Fork { .. }
            | WorkerCommand::Check { .. }
            | WorkerCommand::Admit(_)
            | WorkerCommand::Drain(_)
            | WorkerCommand::EndNow(_)
            | WorkerCommand::AskForkSafety(_)
            | WorkerCommand::TrimMemory(_)
            | WorkerCommand::Collect(_)
            | WorkerCommand::AskStack { .. }
            | WorkerCommand::CloseLanes(_) => {}
        }
    }

    fn note_clients(&mut self, command: &ClientsCommand) {
        match command {
            ClientsCommand::TurnAway => self.service_manager.draining(),
            ClientsCommand::StopAccepting(_) => self.begin_stop(),
            ClientsCommand::HoldRequests
            | ClientsCommand::ReleaseRequests
            | ClientsCommand::EndRestart(_)
            | ClientsCommand::Limit { .. }
            | ClientsCommand::CutOff => {}
        }
    }

    /// Begins to accept clients, because the workers are ready. The error says why this edge cannot follow the old one.
    fn begin_to_serve(&mut self) -> Result<(), String> {
        self.handover.say_ready(&mut self.service_manager)?;
        self.server.life().open();
        self.executor.announce();
        Ok(())
    }

    fn receive(&mut self, message: Message) -> Option<Outcome> {
        match message {
            Message::Event(Event::MemoryRead(reading)) => self.memory_read(reading),
            Message::Event(event) => {
                if let Event::Process(event) = &event {
                    self.note_process(event);
                }
                self.handle([event])
            }
            Message::Settings(Ok(fresh)) => self.settings_read(fresh),
            Message::Settings(Err(cause)) => {
                self.handle([Event::Restart(RestartEvent::SettingsFailed { cause })])
            }
            Message::Sources(json) => {
                self.server.parts().iter().for_each(|it| it.sources(&json));
                None
            }
            Message::SuccessorSettled => {
                self.successor_settled();
                None
            }
            Message::Control(request, asker) => self.control(request, asker),
            Message::LogReopened => {
                self.service_manager.reopening_ends();
                None
            }
            Message::Profile(message) => {
                let profiles = &mut self.reports.profiles;
                profiles.handle(message, &self.state, &self.executor);
                None
            }
            Message::AskStacks(asker) => {
                let figures = self.server.figures();
                self.reports.stacks.ask(asker, figures, &self.executor);
                None
            }
            Message::Stack(report) => {
                let of_stuck = self.reports.stacks.receive(report, self.server.log());
                of_stuck.and_then(|report| self.handle([Event::Worker(WorkerEvent::Stack(report))]))
            }
            Message::OneOff(message) => self.one_off(message),
            Message::Stats(message) => {
                self.reports.collect(message, &self.state, &self.executor);
                None
            }
        }
    }

    /// Ends the rest of a worker that has collected its garbage. Forgets the open questions to a process that has
    /// ended.
    fn note_process(&mut self, event: &ProcessEvent) {
        match *event {
            ProcessEvent::Collected {
                process: RubyProcess::Worker(worker),
                took,
            } => {
                let rests = WorkerRests::of(self.server.dispatcher());
                rests.collected(worker, took, clock::now());
            }
            ProcessEvent::Closed(process) => self.forget_questions(process, "ended"),
            ProcessEvent::Collected { .. }
            | ProcessEvent::MoldStarted { .. }
            | ProcessEvent::Hello { .. }
            | ProcessEvent::Ready(_)
            | ProcessEvent::BootFailed { .. }
            | ProcessEvent::NotForkSafe { .. }
            | ProcessEvent::Exited { .. } => {}
        }
    }

    fn successor_settled(&mut self) {
        // A new edge that died at once has not taken over: this edge keeps its control socket.
        if let Some(pid) = self.executor.successor.as_ref().map(|it| it.pid) {
            self.server.leave();
            self.handover.settled(pid);
        }
    }

    fn forget_questions(&mut self, process: RubyProcess, what: &str) {
        let log = self.server.log();
        (self.reports).gone(process, what, log, &self.state, &self.executor);
    }

    fn settings_read(&mut self, fresh: FreshSettings) -> Option<Outcome> {
        let machine = Machine::read(self.executor.root());
        let clients = self.server.held_limit();
        let settings = fresh.settings;
        let generation =
            GenerationSettings::new(&settings, machine.processors, machine.memory, clients);
        self.executor.keep_settings(Rc::from(settings));
        self.handle([Event::Restart(RestartEvent::SettingsRead {
            settings: Box::new(generation),
            unchanged: fresh.unchanged,
        })])
    }

    fn lane_event(&mut self, event: LaneEvent) -> Option<Outcome> {
        let tag = match event {
            LaneEvent::Stuck { tag, request } => {
                return self.handle([Event::Worker(WorkerEvent::LaneStuck { tag, request })]);
            }
            LaneEvent::Slow { tag, request } => {
                let figures = self.server.figures();
                if let Some(slow) = figures.running_request(tag, request, clock::now()) {
                    self.reports.stacks.ask_slow(slow, &self.executor);
                }
                return None;
            }
            LaneEvent::DescriptorsLost(tag) => {
                return self.handle([Event::Worker(WorkerEvent::DescriptorsLost(tag.worker))]);
            }
            LaneEvent::Collect(worker) => return self.tell(worker, Kind::Collect),
            LaneEvent::DeclineCollection(worker) => {
                return self.tell(worker, Kind::DeclineCollection);
            }
            LaneEvent::CodeChanged => {
                self.server.dispatcher().renewal().note_asked();
                return self.handle([Event::Restart(RestartEvent::CodeChanged)]);
            }
            LaneEvent::Drained(tag) | LaneEvent::Lost(tag) => tag,
        };
        let is_lost = matches!(event, LaneEvent::Lost(_));
        let lost = is_lost.then_some(Event::Worker(WorkerEvent::LaneLost(tag.worker)));
        let is_drained = self.server.figures().is_drained(tag.worker);
        let drained = is_drained.then_some(Event::Worker(WorkerEvent::Drained(tag.worker)));
        self.handle(lost.into_iter().chain(drained).collect::<VecDeque<_>>())
    }

    fn tell(&mut self, worker: WorkerId, signal: Kind) -> Option<Outcome> {
        self.executor
            .send_signal(RubyProcess::Worker(worker), signal);
        None
    }

    async fn handle_signal(&mut self, request: SignalRequest) -> Option<Outcome> {
        match request {
            SignalRequest::Stop => {
                // Requests that clients sent before the signal are still served, so the tasks that read them run first.
                tokio::task::yield_now().await;
                return self.handle([Event::StopRequested]);
            }
            SignalRequest::AddWorker => return self.rescale(Elastic::raised),
            SignalRequest::RemoveWorker => return self.rescale(Elastic::lowered),
            SignalRequest::Restart => {
                return self.handle([Event::Restart(RestartEvent::Requested)]);
            }
            SignalRequest::Upgrade => {
                return self.handle([Event::Upgrade(UpgradeEvent::Requested)]);
            }
            SignalRequest::ReopenLogs => self.reopen_logs(),
        }
        None
    }

    fn rescale(&mut self, change: impl FnOnce(Elastic) -> Elastic) -> Option<Outcome> {
        let bounds = self.state.limits().elastic;
        let changed = change(bounds);
        if changed == bounds {
            let workers: [Field<'_>; 1] = [("workers", &bounds.max)];
            self.server.log().warn("the last worker stays", &workers);
            return None;
        }
        self.handle([Event::Scaled(changed)])
    }

    pub(crate) fn tick(&mut self) -> Option<Outcome> {
        self.service_manager.tick(clock::now());
        self.notice_freeze();
        if !self.server.tick() {
            return None;
        }
        self.reports.stacks.tick(self.server.log());
        if self.server.has_left() && self.state.apps().are_over() {
            // The closed socket tells the new edge that it may start its further processes.
            self.executor.successor = None;
        }
        let (queue_time, waiting) = self.server.dispatcher().take_queue_time();
        let tick = Event::Tick(Tick {
            queue_time,
            waiting,
            has_clients: !self.server.is_idle() || self.handover.is_awaited(),
            clients: self.server.connections(),
        });
        self.handle([self.traffic(), tick])
    }

    fn memory_read(&mut self, mut reading: MemoryReading) -> Option<Outcome> {
        self.reports.keep_memory(&mut reading);
        WorkerRests::of(self.server.dispatcher()).note_processors(reading.processors);
        self.handle([self.traffic(), Event::MemoryRead(reading)])
    }

    /// Notices that the process stood still. An event may come before the late tick.
    fn notice_freeze(&mut self) {
        self.lost += self.server.take_freeze().unwrap_or_default();
    }

    fn traffic(&self) -> Event {
        Event::Traffic(self.executor.traffic(clock::now()))
    }

    fn begin_stop(&mut self) {
        self.service_manager.stopping();
        log_with_pid(self.server.log(), "stopping");
        self.ticks = ticks(TICK / 4);
    }

    fn reopen_logs(&mut self) {
        self.server.parts().iter().for_each(Part::reopen);
        self.service_manager.reopening_begins();
        let mailbox = self.executor.mailbox.clone();
        self.server
            .log()
            .reopen(move || mailbox.send(Message::LogReopened));
    }
}

/// The steps that a simulation calls in its own order, in place of `run`.
#[cfg(test)]
impl<H: Host> Supervisor<H> {
    /// Handles the next message, or the next event of a lane. Returns whether there was one.
    pub(crate) fn step(&mut self, lanes_first: bool) -> (bool, Option<Outcome>) {
        let lane_event = lanes_first
            .then(|| self.lane_events.try_recv().ok())
            .flatten();
        if let Some(event) = lane_event {
            return (true, self.lane_event(event));
        }
        if let Ok(message) = self.messages.try_recv() {
            return (true, self.receive(message));
        }
        match self.lane_events.try_recv() {
            Ok(event) => (true, self.lane_event(event)),
            Err(_) => (false, None),
        }
    }

    /// Stops the server, as SIGTERM does.
    pub(crate) fn stop(&mut self) -> Option<Outcome> {
        self.handle([Event::StopRequested])
    }

    /// How many workers should run.
    pub(crate) fn wanted(&self) -> u32 {
        self.state.processes().workers.wanted
    }

    /// How many further processes of the application should run.
    pub(crate) fn wanted_apps(&self) -> usize {
        let wanted = self.state.apps().wanted();
        wanted.iter().map(|it| it.wanted as usize).sum()
    }
}

/// Ticks that are not made up for if the process stood still.
fn ticks(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

fn log_with_pid(log: &Log, message: &str) {
    let pid: [Field<'_>; 1] = [("pid", &std::process::id())];
    log.info(message, &pid);
}
