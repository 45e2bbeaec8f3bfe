use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt::Display;
use std::io;
use std::rc::Rc;

use super::answer::BadAnswer;
use super::exchange::Exchange;
use super::lane::{Held, Lane, Stage, State};
use super::{Answer, Call};
use crate::http::Refusal;
use crate::log::Log;
use crate::settings::Settings;
use crate::supervise::{Event, Events};

/// One queue for all workers: gives each request to a lane, and settles what comes back.
#[derive(Debug)]
pub(crate) struct Dispatcher {
    settings: Rc<Settings>,
    log: Rc<Log>,
    events: Events,
    lanes: RefCell<Vec<Rc<Lane>>>,
    /// Lanes that hold nothing, the most recently used last.
    idle: RefCell<Vec<Rc<Lane>>>,
    queue: RefCell<VecDeque<Rc<Exchange>>>,
    refused: Cell<u64>,
}

impl Dispatcher {
    pub(crate) fn new(settings: &Rc<Settings>, log: &Rc<Log>, events: Events) -> Rc<Dispatcher> {
        Rc::new(Dispatcher {
            settings: Rc::clone(settings),
            log: Rc::clone(log),
            events,
            lanes: RefCell::default(),
            idle: RefCell::default(),
            queue: RefCell::default(),
            refused: Cell::new(0),
        })
    }

    /// Asks the application. Dropping the future takes the request out of the queue, or drops the
    /// answer.
    pub(crate) async fn call(&self, call: Call) -> Result<Answer, Refusal> {
        let exchange = Rc::new(Exchange::new(call));
        self.admit(&exchange)?;
        exchange.outcome().await
    }

    fn admit(&self, exchange: &Rc<Exchange>) -> Result<(), Refusal> {
        let waiting = self.queue.borrow().len();
        if waiting == 0 {
            if let Some(lane) = self.choose() {
                self.begin(&lane, exchange);
                return Ok(());
            }
        }
        if waiting >= self.settings.queue_limit {
            self.refused.set(self.refused.get() + 1);
            return Err(Refusal::QueueFull);
        }
        self.queue.borrow_mut().push_back(Rc::clone(exchange));
        Ok(())
    }

    /// The most recently used lane that holds nothing, or else the one that holds least and has room.
    fn choose(&self) -> Option<Rc<Lane>> {
        let idle = self.idle.borrow_mut().pop();
        idle.or_else(|| {
            let lanes = self.lanes.borrow();
            let with_room = lanes.iter().filter(|lane| lane.has_room());
            with_room.min_by_key(|lane| lane.held().len()).cloned()
        })
    }

    fn begin(&self, lane: &Rc<Lane>, exchange: &Rc<Exchange>) {
        if let Err(error) = lane.begin(Rc::clone(exchange)) {
            self.log.error(
                "cannot hand over a request",
                &[("lane", &lane.tag), ("cause", &error)],
            );
            exchange.settle(Err(Refusal::SpoolFailed));
            self.rest(lane);
        }
    }

    /// Gives a lane what it has room for from the queue.
    pub(super) fn refill(&self, lane: &Rc<Lane>) {
        while lane.has_room() {
            let Some(exchange) = self.next_waiting() else {
                break;
            };
            self.begin(lane, &exchange);
        }
        self.rest(lane);
    }

    fn next_waiting(&self) -> Option<Rc<Exchange>> {
        let mut queue = self.queue.borrow_mut();
        std::iter::from_fn(|| queue.pop_front()).find(|exchange| !exchange.is_cancelled())
    }

    /// Takes note of a lane that holds nothing.
    fn rest(&self, lane: &Rc<Lane>) {
        if !lane.is_empty() {
            return;
        }
        match lane.state() {
            State::Open => {
                let mut idle = self.idle.borrow_mut();
                if !idle.iter().any(|known| Rc::ptr_eq(known, lane)) {
                    idle.push(Rc::clone(lane));
                }
            }
            State::Draining => self.events.send(Event::LaneDrained(lane.tag)),
            State::Opening | State::Closed => {}
        }
    }

    /// A worker's lane is ready for requests.
    pub(super) fn lane_opened(&self, lane: &Rc<Lane>) {
        self.lanes.borrow_mut().push(Rc::clone(lane));
        self.refill(lane);
    }

    /// Gives these lanes nothing more; `Event::LaneDrained` tells when each has finished.
    pub(crate) fn drain(&self, worker: u32) {
        self.idle
            .borrow_mut()
            .retain(|lane| lane.tag.worker != worker);
        let lanes: Vec<_> = self.lanes_of(worker);
        for lane in lanes.iter().filter(|lane| lane.state() == State::Open) {
            lane.set_state(State::Draining);
            self.rest(lane);
        }
    }

    /// Whether a worker holds no request.
    pub(crate) fn is_drained(&self, worker: u32) -> bool {
        self.lanes_of(worker).iter().all(|lane| lane.is_empty())
    }

    fn lanes_of(&self, worker: u32) -> Vec<Rc<Lane>> {
        self.lanes
            .borrow()
            .iter()
            .filter(|lane| lane.tag.worker == worker)
            .cloned()
            .collect()
    }

    /// The worker has closed the lane, or died: what it had not begun goes back to the queue.
    pub(super) fn lane_lost(&self, lane: &Rc<Lane>, broken: Option<io::Error>) {
        self.close(lane);
        if let Some(error) = broken {
            self.log
                .error("lane broken", &[("lane", &lane.tag), ("cause", &error)]);
        }
        self.give_back(lane);
        self.events.send(Event::LaneLost(lane.tag));
    }

    fn close(&self, lane: &Rc<Lane>) {
        lane.set_state(State::Closed);
        self.lanes
            .borrow_mut()
            .retain(|known| !Rc::ptr_eq(known, lane));
        self.idle
            .borrow_mut()
            .retain(|known| !Rc::ptr_eq(known, lane));
    }

    /// Settles or requeues what a lane holds, the oldest to the front of the queue.
    fn give_back(&self, lane: &Lane) {
        let begun = lane.begun();
        let not_begun = |id: u32| (1..1 << 31).contains(&id.wrapping_sub(begun));
        let mut back = VecDeque::new();
        for Held { id, stage } in lane.take_held() {
            match stage {
                Stage::Streaming(sender) => sender.fail(),
                Stage::Waiting(exchange) if exchange.is_cancelled() || exchange.is_settled() => {}
                Stage::Waiting(exchange) => {
                    let again = exchange.call.is_safe() && !exchange.retried.replace(true);
                    if not_begun(id) || again {
                        back.push_back(exchange);
                    } else {
                        self.report("request lost with its worker", lane, &exchange);
                        exchange.settle(Err(Refusal::WorkerLost));
                    }
                }
            }
        }
        self.requeue(back);
    }

    fn requeue(&self, back: VecDeque<Rc<Exchange>>) {
        for exchange in back.into_iter().rev() {
            match self.choose() {
                Some(lane) => self.begin(&lane, &exchange),
                None => self.queue.borrow_mut().push_front(exchange),
            }
        }
    }

    /// Looks for requests that have waited or run too long. Called once a tick.
    pub(crate) fn tick(&self) {
        self.expire_waiting();
        let stuck: Vec<_> = self
            .lanes
            .borrow()
            .iter()
            .filter(|lane| self.is_stuck(lane))
            .cloned()
            .collect();
        for lane in stuck {
            self.give_up(&lane);
        }
        let refused = self.refused.take();
        if refused > 0 {
            self.log.warn(
                "queue full",
                &[
                    ("refused", &refused),
                    ("queue_limit", &self.settings.queue_limit),
                ],
            );
        }
    }

    fn expire_waiting(&self) {
        let limit = self.settings.queue_timeout;
        let mut expired = Vec::new();
        let mut queue = self.queue.borrow_mut();
        while queue
            .front()
            .is_some_and(|front| front.is_cancelled() || front.arrived.elapsed() > limit)
        {
            expired.extend(queue.pop_front());
        }
        drop(queue);
        for exchange in expired.iter().filter(|exchange| !exchange.is_cancelled()) {
            self.log
                .warn("request waited too long", &[("request", &Line(exchange))]);
            exchange.settle(Err(Refusal::QueueTimeout));
        }
    }

    fn is_stuck(&self, lane: &Lane) -> bool {
        let waiting = matches!(
            lane.held().front(),
            Some(Held {
                stage: Stage::Waiting(_),
                ..
            })
        );
        waiting && lane.running() > self.settings.request_timeout
    }

    /// The application did not begin its answer in time: the client is told, and the worker is to be
    /// replaced. What waits behind it on the lane stays there until the worker is dead: until then
    /// it may still begin.
    fn give_up(&self, lane: &Rc<Lane>) {
        self.close(lane);
        let front = lane.held().front().map(|held| held.id);
        if let Some(Stage::Waiting(exchange)) = front.and_then(|id| lane.release(id)) {
            self.report("request timed out", lane, &exchange);
            exchange.settle(Err(Refusal::AppTimeout));
        }
        self.events.send(Event::LaneStuck(lane.tag));
    }

    /// Logs an answer that cannot be sent.
    pub(super) fn refused_answer(&self, exchange: &Exchange, bad: &BadAnswer) {
        self.log.error(
            "answer refused",
            &[("request", &Line(exchange)), ("cause", bad)],
        );
    }

    fn report(&self, message: &str, lane: &Lane, exchange: &Exchange) {
        self.log.error(
            message,
            &[("worker", &lane.tag.worker), ("request", &Line(exchange))],
        );
    }
}

/// A request as a log line names it.
struct Line<'a>(&'a Exchange);

impl Display for Line<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.0.call.parts.method, self.0.call.parts.uri)
    }
}
