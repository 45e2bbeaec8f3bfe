use std::os::fd::AsFd;
use std::rc::Rc;

use carat_lane::{CurrentRequest, HeadEncoder, LaneSession, Step, TakenRequest};
use carat_wire::RequestBody;

use crate::simulation::collector::SimulatedCollector;
use crate::simulation::plan::{CableCommand, CrashPoint, Moment, RequestScript, ScriptedBody};
use crate::simulation::processes::page::WorkerPage;
use crate::simulation::processes::served_request::{ServedRequest, ServiceStep};
use crate::simulation::world::World;
use crate::simulation::world::wire::FarEnd;
use carat_exchange::clock;

/// A thread of a simulated worker, with the lane's real session.
#[derive(Debug)]
pub(crate) struct WorkerLane {
    /// The process, and the index of the lane in it.
    name: (u32, u16),
    end: Option<FarEnd>,
    page: WorkerPage,
    session: LaneSession,
    /// The collector of the worker.
    collector: Rc<SimulatedCollector>,
    head: HeadEncoder,
    capacity: u16,
    is_greeted: bool,
    /// A request that the page notes as begun, and that may have been recalled.
    beginning: Option<BegunRequest>,
    served: Vec<ServedRequest>,
    /// The time until which the thread computes, in microseconds.
    busy_until: u64,
    /// When the lane runs next without an event, in microseconds.
    planned: u64,
}

/// How a lane's turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaneRun {
    Waits,
    Crashed,
}

#[derive(Debug)]
struct BegunRequest {
    /// 0 for a command of the cable.
    number: usize,
    command: Option<CableCommand>,
    id: u32,
    is_head: bool,
    is_streamed: bool,
}

impl WorkerLane {
    pub(crate) fn new(
        name: (u32, u16),
        end: FarEnd,
        page: WorkerPage,
        capacity: u16,
        collector: &Rc<SimulatedCollector>,
    ) -> WorkerLane {
        WorkerLane {
            name,
            end: Some(end),
            page,
            session: LaneSession::default(),
            collector: Rc::clone(collector),
            head: HeadEncoder::new(false),
            capacity,
            is_greeted: false,
            beginning: None,
            served: Vec::new(),
            busy_until: 0,
            planned: 0,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.end.is_some()
    }

    pub(crate) fn into_end(self) -> Option<FarEnd> {
        self.end
    }

    /// Greets the edge: the thread starts.
    pub(crate) fn push_hello(&mut self, world: &World) {
        self.session.push_hello(self.capacity, self.capacity > 1);
        self.is_greeted = true;
        self.soon(world.latency(), world);
    }

    /// Drains the lane: it takes no further request.
    pub(crate) fn drain(&mut self, world: &World) {
        self.session.drain();
        self.soon(0, world);
    }

    /// Says goodbye and closes the lane.
    pub(crate) fn leave(&mut self) {
        if let Some(end) = self.end.take() {
            self.session.push_bye();
            // An edge that does not read loses the goodbye, which it does not need.
            let _ = self.session.flush(end.as_fd());
            end.wake_edge();
        }
        self.served.clear();
    }

    /// Continues the running requests, and takes requests that have arrived.
    pub(crate) fn run(&mut self, world: &World) -> LaneRun {
        let Some(end) = &self.end else {
            return LaneRun::Waits;
        };
        end.look();
        if !self.is_greeted || world.now() < self.busy_until {
            return LaneRun::Waits;
        }
        if self.is_stopped(world) {
            return LaneRun::Waits;
        }
        self.session.resumed(clock::now());
        if self.serve(world) || self.take(world) {
            return LaneRun::Crashed;
        }
        self.send();
        LaneRun::Waits
    }

    /// Whether the garbage collector has stopped the thread. If so, the lane runs again later.
    fn is_stopped(&mut self, world: &World) -> bool {
        let until = self.collector.stop(world.now());
        until.inspect(|until| self.plan(*until, world)).is_some()
    }

    /// Continues the running requests. Returns whether the worker dies of one.
    fn serve(&mut self, world: &World) -> bool {
        if self.is_stopped(world) {
            return false;
        }
        let mut index = 0;
        while let (Some(end), Some(request)) = (&self.end, self.served.get_mut(index)) {
            let step = request.run(&mut self.session, &mut self.head, end.as_fd(), world);
            match step {
                ServiceStep::Crashed => return true,
                ServiceStep::Over => drop(self.served.remove(index)),
                ServiceStep::WaitsForEdge => index += 1,
                ServiceStep::LingersUntil(at) => {
                    index += 1;
                    self.linger(at, world);
                }
                ServiceStep::WaitsUntil(at) => {
                    index += 1;
                    if request_keeps_thread(self.capacity, &self.served[index - 1]) {
                        self.busy_until = at;
                    }
                    self.plan(at, world);
                }
            }
            if self.busy_until > world.now() {
                return false;
            }
        }
        false
    }

    /// Takes requests as long as slots are free. True if the worker dies of one.
    fn take(&mut self, world: &World) -> bool {
        if let Some(taken) = self.beginning.take() {
            if self.begin(taken, world) {
                return true;
            }
        }
        if self.served.is_empty() {
            self.page.linger(false);
        }
        while self.busy_until <= world.now()
            && !self.is_stopped(world)
            && self.served.len() < usize::from(self.capacity)
        {
            let Some(end) = &self.end else { return false };
            let next = self.session.next(end.as_fd(), clock::now());
            match next.expect("the edge sends what a lane expects") {
                Step::Wait(_) => return false,
                Step::Yield => self.session.resumed(clock::now()),
                Step::Done(false) => {
                    if self.served.is_empty() {
                        self.leave();
                    }
                    return false;
                }
                Step::Done(true) => {
                    let taken = self.take_first(world);
                    if world.random.chance(50) {
                        self.beginning = Some(taken);
                        let gap = world.random.pick(&[100, 100, 5_000]);
                        self.soon(world.random.below(gap), world);
                        return false;
                    }
                    if self.begin(taken, world) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Takes the request at the front, and notes on the page that it begins.
    fn take_first(&mut self, world: &World) -> BegunRequest {
        let taken = self.session.take(|request, _| {
            let path = std::str::from_utf8(request.head.path).expect("a path in ASCII");
            let command = match request.body {
                RequestBody::Inline(body) if path == "/cable" => Some(CableCommand::read(body)),
                _ => None,
            };
            let number = match command {
                Some(_) => 0,
                None => path[1..].parse().expect("the number of a request"),
            };
            if let (RequestBody::Inline(bytes), None) = (request.body, &command) {
                let script = world.ledger.borrow().script(number).body;
                let is_whole = script == ScriptedBody::Inline(bytes.len());
                world
                    .ledger
                    .borrow_mut()
                    .check(is_whole, number, "has another body");
            }
            BegunRequest {
                number,
                command,
                id: request.head.id,
                is_head: request.head.method == b"HEAD",
                is_streamed: matches!(request.body, RequestBody::Stream { .. }),
            }
        });
        let taken = taken.expect("the edge sends what a lane expects");
        let TakenRequest::Request(taken) = taken else {
            unreachable!("no request has a descriptor");
        };
        self.page.begin(taken.id);
        world.note("begin", taken.number as u64, self.name.0.into());
        if taken.command.is_none() {
            world.ledger.borrow_mut().begin(taken.number);
        }
        taken
    }

    /// Serves a request that has begun, unless the edge has recalled it. True when the worker dies of it.
    fn begin(&mut self, taken: BegunRequest, world: &World) -> bool {
        if !self.page.may_run(taken.id) {
            world.note("skip", taken.number as u64, self.name.0.into());
            self.session.skip(taken.id);
            return false;
        }
        self.session.begin(taken.id, taken.is_streamed);
        let script = match taken.command {
            Some(_) => RequestScript::of_command(&world.random, !world.is_calm.get()),
            None => world.ledger.borrow().script(taken.number).clone(),
        };
        if script.crash == Some(CrashPoint::Begin) {
            return true;
        }
        world.note("run", taken.number as u64, self.name.0.into());
        self.note_run(&taken, world);
        self.collector
            .note_begun(taken.id, &mut self.session, world);
        let current = CurrentRequest {
            id: taken.id,
            is_head: taken.is_head,
            started: clock::now(),
        };
        let named = (taken.number, taken.command);
        let request = ServedRequest::new(named, script, current, world.now());
        self.served.push(request);
        self.serve(world)
    }

    fn note_run(&self, taken: &BegunRequest, world: &World) {
        let Some(command) = &taken.command else {
            return world.ledger.borrow_mut().run(taken.number, self.name.0);
        };
        if let Some(message) = command.message() {
            world.note("carries out", message.client as u64, message.number);
            if !world.cable.borrow_mut().run(message) {
                world.violate(format!("a worker must not run {message:?}"));
            }
        }
    }

    /// Lets the application run on after its response, which is sent first.
    fn linger(&mut self, until: u64, world: &World) {
        if self.capacity == 1 {
            self.page.linger(true);
            self.session.linger();
            self.send();
            self.busy_until = until;
        }
        self.plan(until, world);
    }

    fn send(&mut self) {
        if let Some(end) = &self.end {
            let flushed = self.session.flush(end.as_fd());
            flushed.expect("an open socket");
            end.wake_edge();
        }
    }

    /// Runs the lane again at this time, or earlier.
    fn plan(&mut self, at: u64, world: &World) {
        if self.planned <= world.now() || at < self.planned {
            self.planned = at;
            let moment = Moment::Lane(self.name.0, self.name.1);
            world.schedule.add(at, moment);
        }
    }

    fn soon(&self, delay: u64, world: &World) {
        world.after(delay, Moment::Lane(self.name.0, self.name.1));
    }
}

/// Whether no other request runs in the thread while this one waits for time to pass.
fn request_keeps_thread(capacity: u16, request: &ServedRequest) -> bool {
    capacity == 1 || request.computes()
}
