use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::Call;
use super::answer::BadAnswer;
use super::exchange::{Asking, Exchange, Line};
use super::lane::Lane;
use super::lane_event::{LaneEvent, LaneEvents};
use super::lane_state::State;
use super::queue_time::QueueTime;
use super::worker_id::WorkerId;
use crate::http::Refusal;
use crate::log::Log;
use crate::settings::Settings;

/// One queue for all workers: gives each request to a lane, and settles what comes back.
#[derive(Debug)]
pub(crate) struct Dispatcher {
    pub(super) settings: Rc<Settings>,
    pub(super) log: Rc<Log>,
    pub(super) events: LaneEvents,
    pub(super) lanes: RefCell<Vec<Rc<Lane>>>,
    /// Lanes that hold nothing, the most recently used last.
    idle: RefCell<Vec<Rc<Lane>>>,
    pub(super) queue: RefCell<VecDeque<Rc<Exchange>>>,
    queue_time: QueueTime,
    pub(super) refused: Cell<u64>,
    /// Whether a rebalance is due soon.
    pub(super) rebalancing: Cell<bool>,
}

impl Dispatcher {
    pub(crate) fn new(
        settings: &Rc<Settings>,
        log: &Rc<Log>,
        events: LaneEvents,
    ) -> Rc<Dispatcher> {
        Rc::new(Dispatcher {
            settings: Rc::clone(settings),
            log: Rc::clone(log),
            events,
            lanes: RefCell::default(),
            idle: RefCell::default(),
            queue: RefCell::default(),
            queue_time: QueueTime::default(),
            refused: Cell::new(0),
            rebalancing: Cell::new(false),
        })
    }

    /// Asks the application. Dropping what is returned takes the request out of the queue, or drops
    /// the answer.
    pub(crate) fn ask(self: &Rc<Self>, call: Call) -> Result<Asking, Refusal> {
        let exchange = Rc::new(Exchange::new(call));
        self.admit(&exchange)?;
        Ok(Asking::new(exchange))
    }

    fn admit(self: &Rc<Self>, exchange: &Rc<Exchange>) -> Result<(), Refusal> {
        let (waiting, now) = (self.queue.borrow().len(), exchange.arrived);
        if waiting == 0 {
            if let Some(lane) = self.choose(now) {
                self.begin(&lane, exchange, now);
                if lane.is_of_many() {
                    self.rebalance_soon();
                }
                return Ok(());
            }
        }
        if waiting >= self.settings.queue_limit && !self.makes_room() {
            self.refused.set(self.refused.get() + 1);
            return Err(Refusal::QueueFull);
        }
        self.queue.borrow_mut().push_back(Rc::clone(exchange));
        Ok(())
    }

    /// Takes those out of the queue whose clients are gone; whether that has made room. Those that only wait
    /// until the bytes of others are sent to a worker that would work on them do not count.
    fn makes_room(&self) -> bool {
        let mut queue = self.queue.borrow_mut();
        queue.retain(|exchange| !exchange.is_cancelled());
        let lanes = self.lanes.borrow();
        let vacancies: usize = lanes.iter().map(|lane| lane.vacancies()).sum();
        queue.len() < self.settings.queue_limit + vacancies
    }

    /// The most recently used lane that holds nothing, or else the one that holds least and has room, if
    /// possible of a worker that has not been seen to stand still.
    pub(super) fn choose(&self, now: Instant) -> Option<Rc<Lane>> {
        let idle = self.idle.borrow_mut().pop();
        idle.or_else(|| {
            let lanes = self.lanes.borrow();
            let with_room = lanes.iter().filter(|lane| lane.has_room(now));
            with_room
                .min_by_key(|lane| (lane.is_stalled(), lane.held().len()))
                .cloned()
        })
    }

    pub(super) fn begin(&self, lane: &Rc<Lane>, exchange: &Rc<Exchange>, now: Instant) {
        self.queue_time
            .note(now.saturating_duration_since(exchange.arrived));
        if let Err(error) = lane.begin(Rc::clone(exchange), now) {
            self.log.error(
                "cannot hand over a request",
                &[("lane", &lane.tag), ("cause", &error)],
            );
            exchange.settle(Err(Refusal::SpoolFailed));
            self.rest(lane);
        }
    }

    /// Gives a lane what it has room for from the queue.
    pub(super) fn refill(&self, lane: &Rc<Lane>, now: Instant) {
        while lane.has_room(now) {
            let Some(exchange) = self.next_waiting() else {
                break;
            };
            self.begin(lane, &exchange, now);
        }
        self.rest(lane);
    }

    /// Gives waiting requests to lanes that have room.
    pub(super) fn hand_out(&self, now: Instant) {
        while !self.queue.borrow().is_empty() {
            let Some(lane) = self.choose(now) else { break };
            match self.next_waiting() {
                Some(exchange) => self.begin(&lane, &exchange, now),
                None => self.rest(&lane),
            }
        }
    }

    /// How long requests have waited for a lane since the last call, and how many wait.
    pub(crate) fn take_queue_time(&self) -> (Duration, usize) {
        let queue = self.queue.borrow();
        let front = queue.front().map(|exchange| exchange.arrived.elapsed());
        (self.queue_time.take(front), queue.len())
    }

    /// Whether a lane has nothing to do.
    pub(super) fn has_idle_lane(&self) -> bool {
        !self.idle.borrow().is_empty()
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
            State::Draining => self.events.send(LaneEvent::Drained(lane.tag)),
            State::Opening | State::Closed => {}
        }
    }

    /// A worker's lane is ready for requests.
    pub(super) fn lane_opened(&self, lane: &Rc<Lane>) {
        self.lanes.borrow_mut().push(Rc::clone(lane));
        self.refill(lane, Instant::now());
    }

    /// Gives these lanes nothing more; `LaneEvent::Drained` tells when each has finished.
    pub(crate) fn drain(&self, worker: WorkerId) {
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
    pub(crate) fn is_drained(&self, worker: WorkerId) -> bool {
        self.lanes_of(worker).iter().all(|lane| lane.is_empty())
    }

    fn lanes_of(&self, worker: WorkerId) -> Vec<Rc<Lane>> {
        self.lanes
            .borrow()
            .iter()
            .filter(|lane| lane.tag.worker == worker)
            .cloned()
            .collect()
    }

    pub(super) fn close(&self, lane: &Rc<Lane>) {
        lane.set_state(State::Closed);
        self.lanes
            .borrow_mut()
            .retain(|known| !Rc::ptr_eq(known, lane));
        self.rest_no_more(lane);
    }

    /// The lane is not chosen because it holds nothing any more.
    pub(super) fn rest_no_more(&self, lane: &Rc<Lane>) {
        self.idle
            .borrow_mut()
            .retain(|known| !Rc::ptr_eq(known, lane));
    }

    /// Logs an answer that cannot be sent.
    pub(super) fn refused_answer(&self, exchange: &Exchange, bad: &BadAnswer) {
        self.log.error(
            "answer refused",
            &[("request", &Line(exchange)), ("cause", bad)],
        );
    }

    pub(super) fn report(&self, message: &str, lane: &Lane, exchange: &Exchange) {
        self.log.error(
            message,
            &[("worker", &lane.tag.worker), ("request", &Line(exchange))],
        );
    }
}

#[cfg(test)]
pub(super) mod tests {
    use tokio::sync::mpsc::UnboundedReceiver;

    use super::super::lane::tests::{call, lane};
    use super::*;
    use crate::dispatch::Asking;

    /// A dispatcher of one worker each with a lane of such a capacity, and what it tells.
    pub(in crate::dispatch) struct Fixture {
        pub(in crate::dispatch) dispatcher: Rc<Dispatcher>,
        pub(in crate::dispatch) lanes: Vec<Rc<Lane>>,
        pub(in crate::dispatch) events: UnboundedReceiver<LaneEvent>,
    }

    impl Fixture {
        pub(in crate::dispatch) fn new(capacities: &[u16]) -> Fixture {
            let settings = Rc::new(Settings::plain());
            let log = Rc::new(Log::open(&settings).expect("a log"));
            let (sender, events) = LaneEvents::channel();
            let dispatcher = Dispatcher::new(&settings, &log, sender);
            let lanes: Vec<_> = (1..)
                .zip(capacities)
                .map(|(worker, capacity)| lane(worker, *capacity))
                .collect();
            for lane in &lanes {
                dispatcher.lane_opened(lane);
            }
            Fixture {
                dispatcher,
                lanes,
                events,
            }
        }

        pub(in crate::dispatch) fn ask(&self, method: &str, path: &str) -> Asking {
            let asked = self.dispatcher.ask(call(method, path));
            asked.expect("admitted")
        }

        /// How many requests each lane holds.
        pub(in crate::dispatch) fn load(&self) -> Vec<usize> {
            self.lanes.iter().map(|lane| lane.held().len()).collect()
        }

        /// The paths of those that wait, the next first.
        pub(in crate::dispatch) fn queue(&self) -> Vec<String> {
            let queue = self.dispatcher.queue.borrow();
            let path = |exchange: &Rc<Exchange>| exchange.call.parts.uri.path().to_owned();
            queue.iter().map(path).collect()
        }
    }

    /// Runs a test that may start tasks.
    pub(in crate::dispatch) fn locally(test: impl FnOnce()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        let runtime = runtime.expect("a runtime");
        tokio::task::LocalSet::new().block_on(&runtime, async { test() });
    }

    #[test]
    fn lanes_of_many_are_filled_evenly_up_to_their_capacity() {
        locally(|| {
            let fixture = Fixture::new(&[3, 3]);
            let asked: Vec<_> = (0..5).map(|_| fixture.ask("GET", "/")).collect();
            assert_eq!(fixture.load().iter().sum::<usize>(), 5);
            assert!(fixture.load().contains(&2));
            let more: Vec<_> = (0..2).map(|_| fixture.ask("GET", "/late")).collect();
            assert_eq!(
                (fixture.load(), fixture.queue()),
                (vec![3, 3], vec!["/late".to_owned()])
            );
            drop((asked, more));
        });
    }

    #[test]
    fn requests_on_lanes_are_not_counted_as_waiting() {
        locally(|| {
            let fixture = Fixture::new(&[3]);
            let asked: Vec<_> = (0..4).map(|_| fixture.ask("GET", "/")).collect();
            assert_eq!((fixture.load(), asked.len()), (vec![3], 4));
            assert!(fixture.dispatcher.ask(call("GET", "/")).is_err());
        });
    }

    #[test]
    fn a_burst_that_a_worker_has_places_for_is_not_refused_though_its_bytes_must_wait() {
        locally(|| {
            let fixture = Fixture::new(&[3]);
            fixture.lanes[0].clog();
            fixture.dispatcher.choose(Instant::now());
            let asked: Vec<_> = (0..4).map(|_| fixture.ask("GET", "/")).collect();
            assert_eq!((fixture.load(), asked.len()), (vec![0], 4));
            assert!(fixture.dispatcher.ask(call("GET", "/")).is_err());

            fixture.lanes[0].push(Vec::clear);
            assert!(fixture.lanes[0].has_recovered());
            fixture.dispatcher.refill(&fixture.lanes[0], Instant::now());
            assert_eq!((fixture.load(), fixture.queue().len()), (vec![3], 1));
        });
    }
}
