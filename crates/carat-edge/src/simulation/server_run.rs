use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use carat_policy::DescriptorBudget;
use tokio::task::LocalSet;
use tokio::time::{Instant, sleep_until};

#[cfg(feature = "cable")]
use super::cable_client::CableClient;
use super::client::SimulatedClient;
use super::console_client::ConsoleClient;
use super::rest_watch::RestWatch;
use super::tasks_waker::TasksWaker;
use crate::parts::{Surroundings, Transports, make_parts};
use crate::simulation::plan::{Answer, Moment};
use crate::simulation::processes::{ProcessTable, SimulatedHost, reading};
use crate::simulation::world::{World, micros};
use crate::supervise::{Mailbox, Message, Ready, Supervisor};
use carat_dispatch::{Dispatcher, LaneEvents};
use carat_exchange::ClientMemory;
use carat_http::{EdgeCore, PartList, Server};
use carat_log::Log;
use carat_supervisor::{Event, Outcome, ProcessEvent, RestartEvent};

/// A budget that is enough for all clients.
const BUDGET: DescriptorBudget = DescriptorBudget {
    connections: 100,
    replies: 200,
    further_replies: 1,
    closing: 0,
    spools: 100,
};

/// The bytes that clients may make the edge hold.
const CLIENT_MEMORY: u64 = 8 << 20;

/// How often the supervisor ticks, in microseconds; more often during a stop.
const TICK: u64 = 100_000;
/// A run that lasts longer than this, in microseconds, has failed.
const LONGEST: u64 = 300_000_000;
/// A run with more moments than this has failed.
const MOST_MOMENTS: u64 = 100_000;
/// How much longer than `drain_delay` and `shutdown_timeout` a stop may take, in microseconds: as long as the
/// architecture page says, and a tick.
const STOP_SLACK: u64 = 4_250_000 + TICK / 4;

/// A run: the real dispatcher and supervisor in a simulated world.
pub(super) struct ServerRun {
    pub(super) world: Rc<ProcessTable>,
    pub(super) server: Rc<Server>,
    #[cfg(feature = "cable")]
    cable: Rc<carat_cable::Cable>,
    /// `None` when the process of the edge has exited.
    supervisor: Option<Supervisor<SimulatedHost>>,
    /// All tasks of the edge and of the clients.
    tasks: LocalSet,
    waker: std::sync::Arc<TasksWaker>,
    pub(super) is_edge_paused: bool,
    has_settled: bool,
    stopped_at: Option<u64>,
    outcome: Option<Outcome>,
    start: Instant,
    moments: u64,
    /// The requests that wait for a busy thread although a lane is idle, and since when, in microseconds.
    pub(super) behind_since: BTreeMap<usize, u64>,
    /// The rests of the workers.
    pub(super) rests: RestWatch,
}

/// The parts that the settings of the scenario switch on.
fn scenario_parts(core: &EdgeCore, mailbox: &Mailbox) -> PartList {
    let surroundings = Surroundings {
        transports: &Transports::new(&core.settings),
        inherited: &Rc::default(),
        mailbox,
    };
    make_parts(core, &surroundings).expect("the parts of the scenario")
}

impl ServerRun {
    pub(super) fn new(seed: u64, is_printed: bool, log: Option<&Rc<Log>>) -> ServerRun {
        let (mailbox, messages) = Mailbox::channel();
        let world = ProcessTable::new(World::new(seed, is_printed, mailbox.clone()));
        let log = log.cloned().unwrap_or_else(|| {
            let opened = Log::open(&world.settings);
            Rc::new(opened.expect("standard error"))
        });
        let (events, lane_events) = LaneEvents::channel();
        let memory = ClientMemory::new(CLIENT_MEMORY);
        let dispatcher =
            Dispatcher::new(&world.settings, &log, events, &BUDGET, Rc::clone(&memory));
        let core = EdgeCore::new(&world.settings, &log, dispatcher, memory);
        let parts = scenario_parts(&core, &mailbox);
        #[cfg(feature = "cable")]
        let (parts, cable) = super::cable_client::with_own_cable(parts, &core);
        let server = Server::new(&core, parts, &BUDGET);
        let ready = Ready::new(Vec::new(), None);
        let host = SimulatedHost(Rc::clone(&world));
        ServerRun {
            supervisor: Some(Supervisor::new(
                host,
                Rc::clone(&server),
                mailbox,
                messages,
                lane_events,
                ready,
            )),
            world,
            server,
            #[cfg(feature = "cable")]
            cable,
            tasks: LocalSet::new(),
            waker: std::sync::Arc::default(),
            is_edge_paused: false,
            has_settled: false,
            stopped_at: None,
            outcome: None,
            start: Instant::now(),
            moments: 0,
            behind_since: BTreeMap::new(),
            rests: RestWatch::default(),
        }
    }

    /// Runs until the server has ended, and everything is cleaned up.
    pub(super) async fn run(&mut self) {
        self.begin();
        while self.outcome.is_none() && !self.has_failed() {
            self.supervise();
            self.look_around();
            let Some(at) = self
                .world
                .schedule
                .next_at()
                .filter(|_| self.outcome.is_none())
            else {
                break;
            };
            self.moments += 1;
            if at > LONGEST || self.moments > MOST_MOMENTS {
                self.world.violate(format!(
                    "not over in time: {:?}",
                    self.server.dispatcher().inspect()
                ));
            }
            self.advance_to(at).await;
            if let Some(moment) = self.world.schedule.take() {
                self.happen(moment).await;
            }
        }
        self.clean_up().await;
    }

    /// Lets the supervisor act, among the tasks that it starts.
    fn locally<T>(&mut self, act: impl FnOnce(&mut Supervisor<SimulatedHost>) -> T) -> T {
        let _tasks = self.tasks.enter();
        act(self.supervisor.as_mut().expect("until the end"))
    }

    /// How many workers should run.
    pub(super) fn wanted(&self) -> u32 {
        self.supervisor.as_ref().map_or(0, Supervisor::wanted)
    }

    /// How many further processes of the application should run.
    pub(super) fn wanted_apps(&self) -> usize {
        self.supervisor.as_ref().map_or(0, Supervisor::wanted_apps)
    }

    fn has_failed(&self) -> bool {
        self.world.ledger.borrow().violation().is_some()
    }

    fn begin(&mut self) {
        let world = Rc::clone(&self.world);
        world.after(0, Moment::Tick);
        world.after(world.scenario.calm_at, Moment::Calm);
        world.after(50_000, Moment::Fault);
        if let Some(at) = world.scenario.stop_at {
            world.after(at, Moment::Stop);
        }
        if let Some(at) = world.scenario.restart_at {
            world.after(at, Moment::Restart);
        }
        for _ in 0..world.scenario.clients {
            let client = SimulatedClient {
                world: Rc::clone(&world),
                server: Rc::clone(&self.server),
            };
            let client = self.tasks.spawn_local(client.run());
            world.add_client(client.abort_handle());
        }
        #[cfg(feature = "cable")]
        for _ in 0..world.scenario.members {
            let member = CableClient::new(&world, &self.server, &self.cable);
            let member = self.tasks.spawn_local(member.run());
            world.add_client(member.abort_handle());
        }
        for _ in 0..world.scenario.consoles {
            let client = self.tasks.spawn_local(ConsoleClient::new(&world).run());
            world.add_client(client.abort_handle());
        }
    }

    /// Runs every task until all wait.
    fn settle(&mut self) {
        let waker = Waker::from(std::sync::Arc::clone(&self.waker));
        while self.waker.take() {
            // Whether tasks are left does not matter here.
            let _ = Pin::new(&mut self.tasks).poll(&mut Context::from_waker(&waker));
        }
    }

    /// Hands the events and messages to the supervisor, in any order of its two inboxes.
    fn supervise(&mut self) {
        if self.is_edge_paused {
            return;
        }
        self.settle();
        // Sometimes the supervisor comes late.
        while self.outcome.is_none() && !self.world.random.chance(60) {
            let lanes_first = self.world.random.chance(500);
            let (has_stepped, outcome) = self.locally(|supervisor| supervisor.step(lanes_first));
            if !has_stepped {
                break;
            }
            self.world.note("message", lanes_first.into(), 0);
            self.outcome = outcome;
            self.settle();
        }
    }

    /// Waits until a time in microseconds, and lets the edge act on its own timers until then. These have a resolution
    /// of milliseconds.
    async fn advance_to(&mut self, at: u64) {
        loop {
            if !self.is_edge_paused {
                self.settle();
            }
            let now = self.world.now();
            let (begun, last) = (now.next_multiple_of(1000), at - at % 1000);
            if now >= at {
                return;
            } else if now >= last {
                tokio::time::advance(Duration::from_micros(at - now)).await;
            } else if now < begun {
                tokio::time::advance(Duration::from_micros(begun - now)).await;
            } else {
                self.sleep_until(self.start + Duration::from_micros(last))
                    .await;
            }
        }
    }

    /// Sleeps until `at`, or until a timer of the edge wakes a task.
    async fn sleep_until(&self, at: Instant) {
        let mut sleep = pin!(sleep_until(at));
        let is_edge_paused = self.is_edge_paused;
        poll_fn(|cx| {
            self.waker.wakes(cx.waker());
            if !is_edge_paused && self.waker.is_set() {
                return Poll::Ready(());
            }
            sleep.as_mut().poll(cx)
        })
        .await;
    }

    async fn happen(&mut self, moment: Moment) {
        let world = Rc::clone(&self.world);
        match moment {
            Moment::Wake(waker) => waker.wake(),
            Moment::Tick => {
                self.tick();
            }
            Moment::Process(pid) => world.act(pid, |process| process.run(&world)),
            Moment::Lane(pid, lane) => world.act(pid, |process| process.run_lane(lane, &world)),
            Moment::Continue(pid) => self.continue_process(pid),
            Moment::Kill(pid) => world.kill(pid),
            Moment::Reap(pid, status) => {
                world.tell(Event::Process(ProcessEvent::Exited { pid, status }));
            }
            Moment::MemoryRead(subjects) => {
                world.tell(Event::MemoryRead(reading(&subjects, &world)));
            }
            Moment::Restart => world.tell(Event::Restart(RestartEvent::Requested)),
            Moment::SettingsRead(read) => world.send(Message::Settings(read)),
            Moment::Fault => self.go_wrong().await,
            Moment::Calm => self.calm_down(),
            // The signal reaches the edge when the edge runs again.
            Moment::Stop if self.is_edge_paused => world.after(TICK, Moment::Stop),
            Moment::Stop => self.stop(),
            Moment::EdgeContinues => {
                self.is_edge_paused = false;
                self.rests.note_pause();
            }
        }
    }

    fn tick(&mut self) {
        let pause = if self.stopped_at.is_some() {
            TICK / 4
        } else {
            TICK
        };
        self.world.after(pause, Moment::Tick);
        if self.is_edge_paused {
            return;
        }
        let wanted = self.wanted();
        self.outcome = self.locally(Supervisor::tick);
        self.check_growth(wanted);
    }

    fn continue_process(&self, pid: u32) {
        let world = &self.world;
        let mut lanes = 0;
        if let Some(process) = world.processes.borrow_mut().get_mut(&pid) {
            process.is_stopped = false;
            lanes = process.lanes();
        }
        world.after(0, Moment::Process(pid));
        for lane in 0..lanes {
            world.after(0, Moment::Lane(pid, lane));
        }
    }

    fn stop(&mut self) {
        let is_second = self.stopped_at.is_some();
        self.world.note("stop", is_second.into(), 0);
        self.world.is_stopping.set(true);
        self.stopped_at.get_or_insert(self.world.now());
        if !is_second && self.world.scenario.is_cut_short {
            self.world
                .after(self.world.random.between(300_000, 900_000), Moment::Stop);
        }
        self.outcome = self.locally(Supervisor::stop);
    }

    /// Checks the invariants, and stops the server when it has settled.
    fn look_around(&mut self) {
        if self.is_edge_paused || self.outcome.is_some() {
            return;
        }
        self.settle();
        self.check_bounds();
        if let Some(stopped_at) = self.stopped_at {
            self.check_stop(stopped_at);
        } else if !self.has_settled && self.has_recovered() {
            self.has_settled = true;
            self.world.note("settled", 0, 0);
            self.world
                .after(self.world.random.below(200_000), Moment::Stop);
        }
    }

    fn check_stop(&self, stopped_at: u64) {
        let settings = &self.world.settings;
        let delay = settings.drain_delay.unwrap_or_default();
        let limit = micros(delay + settings.shutdown_timeout) + STOP_SLACK;
        if self.world.spent_since(stopped_at) > limit {
            self.world.violate("the stop takes too long".to_owned());
        }
    }

    /// Lets the process of the edge exit: the kernel kills all other processes.
    async fn clean_up(&mut self) {
        self.check_outcome();
        self.is_edge_paused = false;
        self.world.is_calm.set(true);
        let pids: Vec<u32> = self.world.processes.borrow().keys().copied().collect();
        self.world.abort_clients();
        self.world.orphans.take();
        for pid in pids {
            self.world.kill(pid);
        }
        self.settle();
        self.supervise_rest();
        let now = self.world.now();
        self.advance_to(now + 40_000).await;
        self.settle();
        self.check_tasks();
    }

    /// Drops the supervisor, which closes what it still holds.
    fn supervise_rest(&mut self) {
        while let Some(moment) = self.world.schedule.take() {
            if let Moment::Wake(waker) = moment {
                waker.wake();
            }
        }
        self.supervisor = None;
        self.world.wires.wake_edge();
        self.settle();
    }

    fn check_outcome(&self) {
        let waiting: Vec<usize> = self
            .world
            .ledger
            .borrow()
            .waiting()
            .iter()
            .copied()
            .collect();
        let is_finished = self.outcome == Some(Outcome::Finished);
        if is_finished && !waiting.is_empty() {
            self.world.violate(format!(
                "requests without an answer at the end: {waiting:?}"
            ));
        }
        let consoles = self.world.consoles.borrow().unfinished();
        if is_finished && !consoles.is_empty() {
            self.world
                .violate(format!("clients hear of no end of consoles: {consoles:?}"));
        }
        for number in waiting {
            self.world.answer(number, Answer::Reset);
        }
        #[cfg(feature = "cable")]
        if let Some(fault) = self.cable_fault() {
            self.world.violate(fault);
        }
        let is_refused = matches!(self.outcome, Some(Outcome::Failed(_)));
        if is_refused && self.world.scenario.trouble == 0 {
            self.world
                .violate(format!("the server failed: {:?}", self.outcome));
        }
    }

    #[cfg(feature = "cable")]
    fn cable_fault(&self) -> Option<String> {
        let mut parts = self.server.parts().iter();
        let report = parts.find(|part| part.name() == "cable")?.report();
        let lost = report["lost"].as_u64().expect("a count");
        self.world.cable.borrow().fault(lost)
    }

    fn check_tasks(&mut self) {
        let waker = Waker::noop();
        let is_over = Pin::new(&mut self.tasks)
            .poll(&mut Context::from_waker(waker))
            .is_ready();
        // A command that still waits in the queue is neither answered nor lost: its client and the server are gone.
        let may_wait = self.server.dispatcher().inspect().queue_length > 0;
        if !is_over && !may_wait && !self.has_failed() {
            self.world
                .violate("tasks of the edge outlive the server".to_owned());
        }
    }
}
