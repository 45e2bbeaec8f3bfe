mod failover;
mod holding;
#[cfg(any(test, feature = "fixture"))]
pub(crate) mod inspection;
mod rebalance;
mod reloading;
mod splitting;
mod timeouts;
pub(crate) mod traffic;
mod trial;
mod tunnels;

use std::cell::{Cell, Ref, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use carat_policy::DescriptorBudget;

use super::canary::{Canary, Code};
use super::draining_tunnels::DrainingTunnels;
use super::hold::Hold;
use super::pauses::Pauses;
use super::queue_time::QueueTime;
use super::reload::Reload;
use crate::lanes::{
    Exchange, IdleLanes, Lane, LaneEvent, LaneEvents, LaneState, LoggedRequest, PendingReply,
};
use carat_exchange::{Call, ClientMemory, Refusal, SpoolQuota, clock};
use carat_log::{Log, WorkerId};
use carat_settings::Settings;

/// The queue of all workers: sends each request to a lane.
#[derive(Debug)]
pub struct Dispatcher {
    /// Those of the current generation.
    settings: RefCell<Rc<Settings>>,
    pub(super) log: Rc<Log>,
    pub(super) events: LaneEvents,
    pub(super) lanes: RefCell<Vec<Rc<Lane>>>,
    idle: IdleLanes,
    /// The lane that got a request last.
    newest: RefCell<Option<Rc<Lane>>>,
    pub(super) queue: RefCell<VecDeque<Rc<Exchange>>>,
    queue_time: QueueTime,
    pub(super) refused: Cell<u64>,
    pub(super) pauses: Pauses,
    pub(super) hold: Hold,
    /// `None` when changed code is not loaded.
    pub(super) reload: Option<Reload>,
    /// What all spooled bodies may take together, those of requests included.
    pub spool_quota: Arc<SpoolQuota>,
    /// The server stops, and takes no further request.
    pub(super) is_over: Cell<bool>,
    /// What all clients make the edge hold.
    pub client_memory: Rc<ClientMemory>,
    /// While a restart waits, the division between old code and new.
    pub(super) canary: RefCell<Option<Rc<Canary>>>,
    /// Whether a rebalance is scheduled.
    pub(super) rebalancing: Cell<bool>,
    pub(super) draining_tunnels: RefCell<Vec<DrainingTunnels>>,
}

impl Dispatcher {
    /// Starts without a lane.
    pub fn new(
        settings: &Rc<Settings>,
        log: &Rc<Log>,
        events: LaneEvents,
        budget: &DescriptorBudget,
        client_memory: Rc<ClientMemory>,
    ) -> Rc<Dispatcher> {
        Rc::new(Dispatcher {
            settings: RefCell::new(Rc::clone(settings)),
            log: Rc::clone(log),
            events,
            lanes: RefCell::default(),
            idle: IdleLanes::default(),
            newest: RefCell::default(),
            queue: RefCell::default(),
            queue_time: QueueTime::default(),
            refused: Cell::new(0),
            pauses: Pauses::default(),
            hold: Hold::default(),
            reload: settings.reload.then(|| Reload::new(log)),
            spool_quota: SpoolQuota::new(settings.spool_limit, budget.spools),
            is_over: Cell::new(false),
            client_memory,
            canary: RefCell::default(),
            rebalancing: Cell::new(false),
            draining_tunnels: RefCell::default(),
        })
    }

    /// The settings of the current generation.
    pub(super) fn settings(&self) -> Ref<'_, Settings> {
        Ref::map(self.settings.borrow(), Rc::as_ref)
    }

    /// From now on these timeouts and limits of the queue hold.
    pub fn adopt(&self, settings: &Rc<Settings>) {
        self.settings.replace(Rc::clone(settings));
    }

    /// Sends a request to the application. Dropping the pending reply removes the request from the
    /// queue, or discards its reply.
    pub fn dispatch(self: &Rc<Self>, call: Call) -> Result<PendingReply, Refusal> {
        let exchange = Rc::new(Exchange::new(call));
        self.assign(&exchange);
        self.admit(&exchange)?;
        Ok(PendingReply::new(exchange))
    }

    fn admit(self: &Rc<Self>, exchange: &Rc<Exchange>) -> Result<(), Refusal> {
        if self.is_over.get() {
            return Err(Refusal::Stopping);
        }
        if self.responds_itself(exchange) {
            return Ok(());
        }
        if self.begin_at_once(exchange)
            || (self.gives_way(exchange) && self.begin_at_once(exchange))
        {
            return Ok(());
        }
        let waiting = self.queue.borrow().len();
        if waiting >= self.settings().queue_limit && !self.makes_room() {
            self.refused.set(self.refused.get() + 1);
            return Err(Refusal::QueueFull);
        }
        self.queue.borrow_mut().push_back(Rc::clone(exchange));
        Ok(())
    }

    /// Sends a request to a lane, unless others wait for one. False if it has to wait, too.
    fn begin_at_once(self: &Rc<Self>, exchange: &Rc<Exchange>) -> bool {
        let (now, code) = (exchange.arrived, self.code_for(exchange));
        if self.is_anyone_waiting(code) {
            return false;
        }
        let Some(lane) = self.choose(code, now) else {
            return false;
        };
        self.begin(&lane, exchange, now);
        if lane.is_ahead() {
            self.rebalance_soon();
        }
        true
    }

    /// Removes requests whose clients are gone, and returns whether the queue has room. A request
    /// does not count when a worker has a vacancy for it and only the lane's outbox is full.
    fn makes_room(&self) -> bool {
        let mut queue = self.queue.borrow_mut();
        queue.retain(|exchange| !exchange.is_cancelled());
        if self.is_held() {
            return queue.len() < self.settings().queue_limit;
        }
        let lanes = self.lanes.borrow();
        let vacancies: usize = lanes.iter().map(|lane| lane.vacancies()).sum();
        queue.len() < self.settings().queue_limit + vacancies
    }

    /// The lane that got a request last, if it begins the next one sooner than an idle one would. Otherwise an idle lane
    /// of the worker with the fewest requests; otherwise the lane with the fewest requests that has room. None while
    /// requests are held. Its worker runs the code; `None` is for any.
    pub(super) fn choose(&self, code: Option<Code>, now: Instant) -> Option<Rc<Lane>> {
        if self.is_held() {
            return None;
        }
        self.gathering(code, now)
            .or_else(|| self.take_idle(code))
            .or_else(|| self.take_room(code, now))
    }

    fn gathering(&self, code: Option<Code>, now: Instant) -> Option<Rc<Lane>> {
        let newest = self.newest.borrow();
        let gathers = |lane: &&Rc<Lane>| self.runs(lane, code) && lane.gathers(now);
        newest.as_ref().filter(gathers).cloned()
    }

    fn take_room(&self, code: Option<Code>, now: Instant) -> Option<Rc<Lane>> {
        let lanes = self.lanes.borrow();
        let with_room = lanes
            .iter()
            .filter(|lane| self.runs(lane, code) && lane.has_room(now));
        with_room.min_by_key(|lane| lane.in_flight().len()).cloned()
    }

    fn take_idle(&self, code: Option<Code>) -> Option<Rc<Lane>> {
        match code {
            None => self.idle.take(),
            Some(_) => self.idle.take_of(|lane| self.runs(lane, code)),
        }
    }

    pub(super) fn begin(&self, lane: &Rc<Lane>, exchange: &Rc<Exchange>, now: Instant) {
        self.newest.replace(Some(Rc::clone(lane)));
        self.queue_time
            .note(now.saturating_duration_since(exchange.arrived));
        if let Err(error) = lane.begin(Rc::clone(exchange), now) {
            self.log.error(
                "cannot send a request to its worker",
                &[("lane", &lane.tag), ("cause", &error)],
            );
            exchange.settle(Err(Refusal::SpoolFailed));
            self.note_idle(lane);
        }
    }

    /// Moves requests from the queue to a lane as long as it has room.
    pub(super) fn refill(&self, lane: &Rc<Lane>, now: Instant) {
        if lane.is_on_trial() {
            return;
        }
        while !self.is_held() && lane.has_room(now) {
            let Some(exchange) = self.next_waiting(lane) else {
                break;
            };
            self.begin(lane, &exchange, now);
        }
        self.note_idle(lane);
    }

    /// Moves requests from the queue to every lane that has room.
    pub(super) fn hand_out(&self, now: Instant) {
        for code in self.codes() {
            while !self.queue.borrow().is_empty() {
                let Some(lane) = self.choose(*code, now) else {
                    break;
                };
                let Some(exchange) = self.next_waiting(&lane) else {
                    self.note_idle(&lane);
                    break;
                };
                self.begin(&lane, &exchange, now);
            }
        }
    }

    /// The mean time that requests waited for a lane since the last call, and how many wait now. Those that are held
    /// do not count: more workers would not help.
    pub fn take_queue_time(&self) -> (Duration, usize) {
        if self.is_held() {
            return (self.queue_time.take(None), 0);
        }
        let queue = self.queue.borrow();
        let front = queue.front().map(|exchange| exchange.waited(clock::now()));
        (self.queue_time.take(front), queue.len())
    }

    /// Whether a lane is idle, and would begin a request at once, whose worker runs this code; `None` is for any.
    pub(super) fn has_idle_lane(&self, code: Option<Code>) -> bool {
        self.idle
            .has(|lane| self.runs(lane, code) && !lane.is_lingering())
    }

    fn next_waiting(&self, lane: &Lane) -> Option<Rc<Exchange>> {
        if self.canary.borrow().is_some() {
            let index = self.next_index(lane)?;
            return self.queue.borrow_mut().remove(index);
        }
        let mut queue = self.queue.borrow_mut();
        std::iter::from_fn(|| queue.pop_front()).find(|exchange| !exchange.is_cancelled())
    }

    /// Adds a lane to the idle ones if it holds no request, and is not known to begin none.
    pub(super) fn note_idle(&self, lane: &Rc<Lane>) {
        if !lane.is_empty() {
            return;
        }
        match lane.state() {
            LaneState::Open if lane.is_stalled() => {}
            LaneState::Open => self.idle.add(lane),
            LaneState::Draining => self.events.send(LaneEvent::Drained(lane.tag)),
            LaneState::Opening | LaneState::Closed => {}
        }
    }

    /// Removes a lane from the idle ones.
    pub(super) fn forget_idle(&self, lane: &Rc<Lane>) {
        self.idle.forget(lane);
    }

    /// A worker's lane takes requests.
    pub(super) fn lane_opened(&self, lane: &Rc<Lane>) {
        if lane.is_on_trial() {
            if let Some(exchange) = lane.take_first() {
                self.begin(lane, &exchange, clock::now());
            }
            return;
        }
        self.lanes.borrow_mut().push(Rc::clone(lane));
        self.refill(lane, clock::now());
    }

    /// Sends no more requests to this worker. [`LaneEvent::Drained`] reports each lane that has
    /// finished.
    pub fn drain(&self, worker: WorkerId) {
        self.idle.forget_worker(worker);
        let lanes: Vec<_> = self.lanes_of(worker);
        for lane in lanes.iter().filter(|lane| lane.state() == LaneState::Open) {
            lane.set_state(LaneState::Draining);
            self.drain_tunnels_of(lane);
            self.note_idle(lane);
        }
        if self.canary.borrow().is_some() {
            // Other code may have to serve what this one cannot any more.
            self.hand_out(clock::now());
        }
    }

    /// Whether a worker holds no request and no tunnel.
    pub fn is_drained(&self, worker: WorkerId) -> bool {
        let lanes = self.lanes_of(worker);
        let is_free = |lane: &Rc<Lane>| lane.is_empty() && lane.tunnels().count() == 0;
        lanes.iter().all(is_free)
    }

    pub(super) fn lanes_of(&self, worker: WorkerId) -> Vec<Rc<Lane>> {
        self.lanes
            .borrow()
            .iter()
            .filter(|lane| lane.tag.worker == worker)
            .cloned()
            .collect()
    }

    pub(super) fn close(&self, lane: &Rc<Lane>) {
        lane.set_state(LaneState::Closed);
        self.lanes
            .borrow_mut()
            .retain(|known| !Rc::ptr_eq(known, lane));
        let mut newest = self.newest.borrow_mut();
        newest.take_if(|newest| Rc::ptr_eq(newest, lane));
        drop(newest);
        self.forget_idle(lane);
    }

    pub(super) fn report(&self, message: &str, lane: &Lane, exchange: &Exchange) {
        self.log.error(
            message,
            &[
                ("worker", &lane.tag.worker),
                ("request", &LoggedRequest(exchange)),
            ],
        );
    }
}

#[cfg(any(test, feature = "fixture"))]
impl Dispatcher {
    /// How many lanes are idle by mistake.
    pub(super) fn count_wrongly_idle(&self) -> usize {
        self.idle.count_wrong()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use crate::fixture::{Fixture, locally};
    use carat_exchange::Call;

    #[test]
    fn concurrent_lanes_are_filled_evenly_up_to_their_capacity() {
        locally(|| {
            let fixture = Fixture::new(&[3, 3]);
            let pending: Vec<_> = (0..5).map(|_| fixture.dispatch("GET", "/")).collect();
            assert_eq!(fixture.load().iter().sum::<usize>(), 5);
            assert!(fixture.load().contains(&2));
            let more: Vec<_> = (0..2).map(|_| fixture.dispatch("GET", "/late")).collect();
            assert_eq!(
                (fixture.load(), fixture.queue()),
                (vec![3, 3], vec!["/late".to_owned()])
            );
            drop((pending, more));
        });
    }

    #[test]
    fn requests_on_lanes_are_not_counted_as_waiting() {
        locally(|| {
            let fixture = Fixture::new(&[3]);
            let pending: Vec<_> = (0..4).map(|_| fixture.dispatch("GET", "/")).collect();
            assert_eq!((fixture.load(), pending.len()), (vec![3], 4));
            assert!(
                fixture
                    .dispatcher
                    .dispatch(Call::plain("GET", "/"))
                    .is_err()
            );
        });
    }

    #[test]
    fn a_burst_with_vacancies_is_not_refused_while_the_outbox_is_full() {
        locally(|| {
            let fixture = Fixture::new(&[3]);
            fixture.lanes[0].fill_outbox();
            fixture.dispatcher.choose(None, Instant::now());
            let pending: Vec<_> = (0..4).map(|_| fixture.dispatch("GET", "/")).collect();
            assert_eq!((fixture.load(), pending.len()), (vec![0], 4));
            assert!(
                fixture
                    .dispatcher
                    .dispatch(Call::plain("GET", "/"))
                    .is_err()
            );

            fixture.lanes[0].push(Vec::clear);
            assert!(fixture.lanes[0].has_recovered());
            fixture.dispatcher.refill(&fixture.lanes[0], Instant::now());
            assert_eq!((fixture.load(), fixture.queue().len()), (vec![3], 1));
        });
    }
}
