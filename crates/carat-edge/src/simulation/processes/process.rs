use std::os::fd::{AsFd, OwnedFd};

use carat_lane::{AppOrder, ControlMessage, ControlSession, Step};
use carat_wire::control::{
    AskStack, Collected, Stack, encode_boot_failed, encode_load, encode_not_fork_safe,
    encode_signal,
};
use carat_wire::{Hello, Kind, SocketKind};

use crate::simulation::plan::{Moment, WORKER_BYTES};
use crate::simulation::processes::app::SimulatedApp;
use crate::simulation::processes::worker::{SimulatedWorker, WorkerEnd};
use crate::simulation::world::World;
use crate::simulation::world::wire::{FarEnd, WireEnd};
use carat_supervisor::ExitStatus;

/// A Ruby process: its control socket, and its next actions.
#[derive(Debug)]
pub(crate) struct SimulatedProcess {
    pub(crate) pid: u32,
    control: FarEnd,
    session: ControlSession,
    role: ProcessRole,
    /// The next actions of the process, and when each is due in microseconds.
    agenda: Vec<(u64, ProcessAction)>,
    /// Whether the process exits soon, and reads nothing more.
    is_leaving: bool,
    /// Whether the process is stopped by SIGSTOP.
    pub(crate) is_stopped: bool,
    /// Private memory.
    pub(crate) bytes: u64,
    /// Set when the process exits.
    pub(crate) exit: Option<ExitStatus>,
}

#[derive(Debug)]
enum ProcessRole {
    Mold {
        is_ready: bool,
        /// Whether the mold does nothing more.
        is_stuck: bool,
    },
    Worker(SimulatedWorker),
    App(SimulatedApp),
}

#[derive(Debug)]
enum ProcessAction {
    Hello,
    Ready,
    FailBoot,
    RefuseRefork,
    Fork(Vec<OwnedFd>),
    RefuseFork(Vec<OwnedFd>),
    ForkApp(AppOrder, OwnedFd),
    SendLoad,
    Leave,
    ReportStack(AskStack),
    ReportForkSafety,
    SayCollected(Collected),
    Exit(i32),
    Die,
}

impl SimulatedProcess {
    /// A mold that loads the application.
    pub(crate) fn mold(pid: u32, control: OwnedFd, world: &World) -> SimulatedProcess {
        let role = ProcessRole::Mold {
            is_ready: false,
            is_stuck: false,
        };
        let mut mold = SimulatedProcess::new(pid, control, role, world);
        mold.boot(world);
        mold
    }

    pub(crate) fn worker(pid: u32, mut sockets: Vec<OwnedFd>, world: &World) -> SimulatedProcess {
        let control = sockets.remove(0);
        let worker = SimulatedWorker::new(pid, sockets, world);
        let role = ProcessRole::Worker(worker);
        let mut process = SimulatedProcess::new(pid, control, role, world);
        process.boot(world);
        process
    }

    /// A further process of the application.
    pub(crate) fn app(
        pid: u32,
        order: AppOrder,
        control: OwnedFd,
        world: &World,
    ) -> SimulatedProcess {
        let role = ProcessRole::App(SimulatedApp::new(order));
        let mut process = SimulatedProcess::new(pid, control, role, world);
        process.boot(world);
        process
    }

    fn new(pid: u32, control: OwnedFd, role: ProcessRole, world: &World) -> SimulatedProcess {
        SimulatedProcess {
            pid,
            control: world.wires.adopt(control, WireEnd::Control(pid)),
            session: ControlSession::default(),
            role,
            agenda: Vec::new(),
            is_leaving: false,
            is_stopped: false,
            bytes: WORKER_BYTES,
            exit: None,
        }
    }

    /// The state of a further process of the application; `None` for a mold or a worker.
    pub(crate) fn as_app(&self) -> Option<&SimulatedApp> {
        match &self.role {
            ProcessRole::App(app) => Some(app),
            ProcessRole::Mold { .. } | ProcessRole::Worker(_) => None,
        }
    }

    pub(crate) fn is_worker(&self) -> bool {
        matches!(self.role, ProcessRole::Worker(_))
    }

    /// Whether the process is a worker that serves, a mold that can fork, or a further process that runs.
    pub(crate) fn is_ready(&self) -> bool {
        match &self.role {
            ProcessRole::Mold { is_ready, is_stuck } => *is_ready && !is_stuck,
            ProcessRole::Worker(worker) => worker.serves(),
            ProcessRole::App(app) => app.is_running && !app.is_ending,
        }
    }

    /// The number of lanes of the process.
    pub(crate) fn lanes(&self) -> u16 {
        match &self.role {
            ProcessRole::Mold { .. } | ProcessRole::App(_) => 0,
            ProcessRole::Worker(worker) => worker.lanes(),
        }
    }

    /// Handles SIGTERM.
    pub(crate) fn terminate(&mut self, world: &World) {
        match &mut self.role {
            ProcessRole::Worker(_) => self.plan(0, ProcessAction::Leave, world),
            ProcessRole::App(app) if app.is_running && !app.is_ending => {
                app.is_ending = true;
                // Now and then a job takes too long.
                let job = if world.fault(50) { 10_000_000 } else { 0 };
                let job = job + world.random.between(0, 150_000);
                self.plan(job, ProcessAction::Exit(0), world);
            }
            ProcessRole::App(_) | ProcessRole::Mold { .. } => {}
        }
    }

    /// Gives the process the memory of a new one.
    pub(crate) fn shrink(&mut self) {
        self.bytes = WORKER_BYTES;
    }

    /// The ends of the process's lanes.
    pub(crate) fn into_lane_ends(self) -> Vec<FarEnd> {
        match self.role {
            ProcessRole::Mold { .. } | ProcessRole::App(_) => Vec::new(),
            ProcessRole::Worker(worker) => worker.into_lane_ends(),
        }
    }

    /// Does the actions that are due, and reads the control socket.
    pub(crate) fn run(&mut self, world: &World) {
        self.control.look();
        while let Some(action) = self.take_due(world.now()) {
            self.perform(action, world);
            if self.exit.is_some() {
                return;
            }
        }
        self.listen(world);
        self.finish(world);
        let flushed = self.session.flush(self.control.as_fd());
        flushed.expect("an open socket");
        self.control.wake_edge();
    }

    /// Lets a lane act.
    pub(crate) fn run_lane(&mut self, lane: u16, world: &World) {
        if let ProcessRole::Worker(worker) = &mut self.role {
            if worker.run_lane(lane, world) {
                self.exit = Some(world.killed());
                return;
            }
        }
        self.finish(world);
    }

    /// The application ends a lane's thread.
    pub(crate) fn end_lane(&mut self, lane: u16) {
        if let ProcessRole::Worker(worker) = &mut self.role {
            worker.end_lane(lane);
        }
    }

    /// Handles a SIGTERM that another process than the edge sends.
    pub(crate) fn leave(&mut self, world: &World) {
        if self.is_worker() && self.is_ready() {
            self.plan(0, ProcessAction::Leave, world);
        }
    }

    /// Begins to boot. Most boots succeed.
    fn boot(&mut self, world: &World) {
        let is_promoted = matches!(self.role, ProcessRole::Mold { .. }) && self.bytes == 0;
        let delay = world.random.between(1_000, 60_000);
        if world.fault(10) {
            return self.plan(delay, ProcessAction::Die, world);
        }
        if !is_promoted {
            self.plan(world.random.below(1_000), ProcessAction::Hello, world);
        }
        if world.fault(20) {
            self.plan(delay, ProcessAction::FailBoot, world);
        } else if world.fault(18) {
            self.plan(delay, ProcessAction::Die, world);
        } else if world.fault(15) {
            // The process is far too late.
            self.plan(20_000_000, ProcessAction::Die, world);
        } else {
            let slow = if world.fault(30) { 1_500_000 } else { 0 };
            self.plan(delay + slow, ProcessAction::Ready, world);
        }
    }

    fn plan(&mut self, delay: u64, action: ProcessAction, world: &World) {
        self.agenda.push((world.now() + delay, action));
        world.after(delay, Moment::Process(self.pid));
    }

    fn take_due(&mut self, now: u64) -> Option<ProcessAction> {
        let due = self
            .agenda
            .iter()
            .enumerate()
            .filter(|(_, (at, _))| *at <= now);
        let (index, _) = due.min_by_key(|(_, (at, _))| *at)?;
        Some(self.agenda.remove(index).1)
    }

    fn perform(&mut self, action: ProcessAction, world: &World) {
        let out = self.session.buffer();
        match action {
            ProcessAction::Hello => {
                let kind = match self.role {
                    ProcessRole::Mold { .. } => SocketKind::Mold,
                    ProcessRole::Worker(_) => SocketKind::Worker,
                    ProcessRole::App(_) => SocketKind::Process,
                };
                Hello::new(kind, self.pid, 0).encode(out);
            }
            ProcessAction::Ready => self.get_ready(world),
            ProcessAction::FailBoot => {
                encode_boot_failed(out, b"no luck");
                self.plan(world.latency(), ProcessAction::Exit(1), world);
            }
            ProcessAction::RefuseRefork => {
                encode_not_fork_safe(out, b"threads");
                self.plan(world.latency(), ProcessAction::Exit(0), world);
            }
            ProcessAction::Fork(sockets) => {
                let pid = world.next_pid();
                world.forked.borrow_mut().push((pid, sockets));
            }
            ProcessAction::ForkApp(order, control) => {
                let pid = world.next_pid();
                world.forked_apps.borrow_mut().push((pid, order, control));
            }
            ProcessAction::SendLoad => {
                encode_load(out, world.random.pick(&[0.0, 0.7, 3.0]));
                self.plan(world.latency(), ProcessAction::Exit(0), world);
            }
            ProcessAction::RefuseFork(sockets) => refuse_fork(sockets, world),
            ProcessAction::Leave => encode_signal(out, Kind::Leaving),
            ProcessAction::ReportForkSafety if world.fault(30) => {
                encode_not_fork_safe(out, b"threads");
            }
            ProcessAction::ReportForkSafety => encode_signal(out, Kind::ForkSafe),
            ProcessAction::SayCollected(collected) => collected.encode(out),
            ProcessAction::ReportStack(ask) => stack_of(ask).encode(out),
            ProcessAction::Exit(status) => self.exit = Some(ExitStatus::Exited(status)),
            ProcessAction::Die => self.exit = Some(world.killed()),
        }
    }

    fn get_ready(&mut self, world: &World) {
        world.note("ready", self.pid.into(), self.is_worker().into());
        encode_signal(self.session.buffer(), Kind::Ready);
        match &mut self.role {
            ProcessRole::Mold { is_ready, .. } => *is_ready = true,
            ProcessRole::Worker(worker) => worker.serve(world),
            ProcessRole::App(app) => app.listens = true,
        }
    }

    fn listen(&mut self, world: &World) {
        while self.exit.is_none() && self.listens() {
            let received = self.session.receive(self.control.as_fd());
            let Step::Done(message) = received.expect("the edge sends what a process expects")
            else {
                return;
            };
            self.receive(message, world);
        }
    }

    /// Whether the process reads its control socket now.
    fn listens(&self) -> bool {
        !self.is_leaving
            && match &self.role {
                ProcessRole::Mold { is_ready, is_stuck } => *is_ready && !is_stuck,
                ProcessRole::Worker(worker) => worker.listens(),
                ProcessRole::App(app) => app.listens,
            }
    }

    fn receive(&mut self, message: ControlMessage, world: &World) {
        world.note("told", self.pid.into(), 0);
        match message {
            ControlMessage::Drain => match &mut self.role {
                ProcessRole::Mold { .. } | ProcessRole::App(_) => self.exit_soon(0, world),
                ProcessRole::Worker(worker) => worker.finish(WorkerEnd::Exits, world),
            },
            ControlMessage::Promote(_) => {
                if let ProcessRole::Worker(worker) = &mut self.role {
                    worker.finish(WorkerEnd::IsPromoted, world);
                }
            }
            ControlMessage::Bye => {
                let hooks = if world.fault(100) { 10_000_000 } else { 0 };
                self.plan(hooks + world.latency(), ProcessAction::Exit(0), world);
            }
            ControlMessage::ForkWorker(_, sockets) => self.fork(sockets, world),
            ControlMessage::AskStack(ask) => {
                if !world.fault(200) {
                    self.plan(world.latency(), ProcessAction::ReportStack(ask), world);
                }
            }
            ControlMessage::Collect => self.collect(world),
            ControlMessage::DeclineCollection => self.decline_collection(),
            ControlMessage::AskForkSafety => {
                if !world.fault(200) {
                    self.plan(world.latency(), ProcessAction::ReportForkSafety, world);
                }
            }
            ControlMessage::AskStats
            | ControlMessage::TrimMemory
            | ControlMessage::BeginProfile(_)
            | ControlMessage::EndProfile => {}
            ControlMessage::OneOff(order, _) => self.begin_console(&order, world),
            ControlMessage::ForkApp(order, control) => self.fork_app(order, control, world),
            ControlMessage::Begin => self.begin(world),
            ControlMessage::End => self.exit_soon(1, world),
        }
    }

    /// Collects the garbage of a worker. Sometimes that takes too long, is never reported, or the worker dies of it.
    fn collect(&mut self, world: &World) {
        world.collections.set(world.collections.get() + 1);
        let ProcessRole::Worker(worker) = &self.role else {
            return;
        };
        let slow = if world.fault(50) { 6_000_000 } else { 0 };
        let micros: u32 = slow + world.random.pick(&[200, 20_000, 250_000]);
        let took = u64::from(micros);
        worker.collector.begin(took, world);
        if world.fault(60) {
            self.plan(world.random.below(took), ProcessAction::Die, world);
        } else if !world.fault(60) {
            let collected = Collected { micros };
            self.plan(took, ProcessAction::SayCollected(collected), world);
        }
    }

    fn decline_collection(&self) {
        if let ProcessRole::Worker(worker) = &self.role {
            worker.collector.decline();
        }
    }

    fn fork(&mut self, sockets: Vec<OwnedFd>, world: &World) {
        let delay = world.random.between(200, 5_000);
        if world.fault(30) {
            self.plan(delay, ProcessAction::RefuseFork(sockets), world);
        } else if world.fault(10) {
            self.role = ProcessRole::Mold {
                is_ready: true,
                is_stuck: true,
            };
        } else {
            self.plan(delay, ProcessAction::Fork(sockets), world);
        }
    }

    fn fork_app(&mut self, order: AppOrder, control: OwnedFd, world: &World) {
        let delay = world.random.between(200, 5_000);
        let action = if world.fault(30) {
            ProcessAction::RefuseFork(vec![control])
        } else {
            ProcessAction::ForkApp(order, control)
        };
        self.plan(delay, action, world);
    }

    fn begin_console(&mut self, order: &[u8], world: &World) {
        let client = String::from_utf8_lossy(order).parse().expect("a number");
        if !world.consoles.borrow_mut().begin(client) {
            world.violate(format!("client {client} has two consoles"));
        }
        if let ProcessRole::App(app) = &mut self.role {
            app.client = Some(client);
        }
        self.begin(world);
    }

    /// Begins the application's block. It runs until the process is told to end, unless it ends by itself.
    fn begin(&mut self, world: &World) {
        let ProcessRole::App(app) = &mut self.role else {
            return;
        };
        (app.is_running, app.listens) = (true, false);
        let (is_meter, is_console) = (app.is_meter(), app.is_console());
        world.note("begins", self.pid.into(), is_meter.into());
        let time = world.random.between(1_000, 700_000);
        if is_console && world.random.chance(500) {
            self.plan(time, ProcessAction::Exit(0), world);
        } else if world.fault(60) {
            let status = world.random.pick(&[Some(0), Some(1), None]);
            let end = status.map_or(ProcessAction::Die, ProcessAction::Exit);
            self.plan(time, end, world);
        } else if is_meter && !world.fault(100) {
            self.plan(world.latency(), ProcessAction::SendLoad, world);
        }
    }

    fn exit_soon(&mut self, status: i32, world: &World) {
        self.is_leaving = true;
        self.plan(world.latency(), ProcessAction::Exit(status), world);
    }

    /// Ends a worker whose lanes are closed, or makes it the mold.
    fn finish(&mut self, world: &World) {
        let ProcessRole::Worker(worker) = &mut self.role else {
            return;
        };
        let Some(end) = worker.take_end() else {
            return;
        };
        if end == WorkerEnd::Exits {
            let hooks = if world.fault(50) { 10_000_000 } else { 0 };
            self.plan(hooks + world.latency(), ProcessAction::Exit(0), world);
            return;
        }
        world.note("promoted", self.pid.into(), 0);
        self.role = ProcessRole::Mold {
            is_ready: false,
            is_stuck: false,
        };
        if world.fault(100) {
            self.plan(world.latency(), ProcessAction::RefuseRefork, world);
            return;
        }
        self.bytes = 0;
        self.boot(world);
        self.bytes = WORKER_BYTES;
    }
}

fn stack_of(ask: AskStack) -> Stack<'static> {
    Stack {
        lane: ask.lane,
        request: ask.request,
        text: b"the CPU\napp.rb:1",
    }
}

/// Reports on the control socket of a worker that the mold cannot fork it, and closes the socket.
fn refuse_fork(mut sockets: Vec<OwnedFd>, world: &World) {
    let mut session = ControlSession::default();
    encode_boot_failed(session.buffer(), b"cannot allocate memory");
    let control = sockets.remove(0);
    session.flush(control.as_fd()).expect("an open socket");
    drop((control, sockets));
    world.wires.wake_edge();
}
