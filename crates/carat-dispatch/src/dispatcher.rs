mod expiry;
mod hijack;
#[cfg(any(test, feature = "fixture"))]
pub(crate) mod inspection;
#[cfg(test)]
mod tests;
pub(crate) mod traffic;
pub(crate) mod worker_rests;

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use carat_policy::DescriptorBudget;
use http::Response;
use http::request::Parts;
use tokio::task::spawn_local;

use crate::code_renewal::CodeRenewal;
use crate::lane_choice::LaneChoice;
use crate::lanes::{
    Exchange, Lane, LaneEvent, LaneEvents, LaneState, PendingReply, cut_off, cut_off_lane,
    fail_over, refuse_trial, report_request,
};
use crate::queue::{Hold, PoolQueues, RequestTimeouts};
use crate::rebalance::Rebalance;
use crate::rest::RestingWorkers;
use crate::tunnel_drain::TunnelDrain;
use carat_exchange::{
    Call, ClientMemory, Refusal, Reply, ReplyBody, RequestTimes, SpoolQuota, SpoolReservation,
    clock,
};
use carat_log::{Log, WorkerId};
use carat_settings::Settings;

/// Sends each request to a lane. The components that decide about requests have fields of their own; the dispatcher
/// passes the decision of one component to the others.
#[derive(Debug)]
pub struct Dispatcher {
    pub(crate) log: Rc<Log>,
    pub(crate) events: LaneEvents,
    /// The settings of the current generation, with the timeouts of requests.
    pub(crate) timeouts: RequestTimeouts,
    /// The hold of the requests while changed code is loaded.
    renewal: Rc<CodeRenewal>,
    /// The hold that `carat pause` begins.
    pub(crate) hold: Hold,
    /// The hold while no worker runs, because a restart needs the memory of the old workers until the mold has booted.
    downtime: Hold,
    /// The requests that wait.
    pub(crate) queue: PoolQueues,
    /// The lanes, and the choice of the lane for the next request.
    pub(crate) lanes: LaneChoice,
    rebalance: Rebalance,
    /// The workers that collect their garbage while they serve nobody.
    pub(crate) resting: RestingWorkers,
    /// The tunnels that have to end within `tunnel_timeout`.
    tunnels: TunnelDrain,
    /// The quota that all spooled bodies share, those of requests included.
    pub(crate) spool_quota: Arc<SpoolQuota>,
    /// The memory that all clients make the edge hold.
    pub(crate) client_memory: Rc<ClientMemory>,
    /// Whether the server stops. New requests are refused then.
    is_over: Cell<bool>,
}

impl Dispatcher {
    /// A dispatcher without lanes.
    pub fn new(
        settings: &Rc<Settings>,
        log: &Rc<Log>,
        events: LaneEvents,
        budget: &DescriptorBudget,
        client_memory: Rc<ClientMemory>,
    ) -> Rc<Dispatcher> {
        let spool_quota = SpoolQuota::new(settings.spool_limit, budget.spools);
        Rc::new(Dispatcher {
            log: Rc::clone(log),
            timeouts: RequestTimeouts::new(settings),
            renewal: Rc::new(CodeRenewal::new(events.clone())),
            hold: Hold::default(),
            downtime: Hold::default(),
            queue: PoolQueues::new(settings),
            lanes: LaneChoice::default(),
            rebalance: Rebalance::default(),
            resting: RestingWorkers::default(),
            tunnels: TunnelDrain::default(),
            events,
            spool_quota,
            client_memory,
            is_over: Cell::new(false),
        })
    }

    /// Adopts the timeouts and limits of these settings.
    pub fn adopt(&self, settings: &Rc<Settings>) {
        self.timeouts.adopt(settings);
        self.queue.adopt(settings);
    }

    /// The hold of the requests while changed code is loaded.
    pub fn renewal(&self) -> &Rc<CodeRenewal> {
        &self.renewal
    }

    /// Sends a request to the application. Dropping the pending reply removes the request from the
    /// queue, or discards its reply.
    pub fn dispatch(self: &Rc<Self>, call: Call) -> Result<PendingReply, Refusal> {
        let exchange = Rc::new(Exchange::new(call));
        self.queue.assign(&exchange);
        self.admit(&exchange)?;
        Ok(PendingReply::new(exchange))
    }

    /// Answers a new request with the error page of the code, or gives it a lane or a place in the queue.
    fn admit(self: &Rc<Self>, exchange: &Rc<Exchange>) -> Result<(), Refusal> {
        if self.is_over.get() {
            return Err(Refusal::Stopping);
        }
        if let Some(response) = self.renewal.check(&exchange.call.parts) {
            self.answer(exchange, response);
            return Ok(());
        }
        if self.begin_at_once(exchange) {
            return Ok(());
        }
        let pool = self.queue.pool(exchange);
        let limit = pool.limit(self.timeouts.settings().queue_limit);
        pool.queue.add(exchange, limit, || {
            if self.is_held() {
                0
            } else {
                self.lanes.free_slots().min(pool.share_left())
            }
        })
    }

    /// Sends a request to a lane. Returns false if it has to wait: because other requests are before it, because its
    /// pool already holds as many lanes as it may, or because no lane takes a request.
    fn begin_at_once(self: &Rc<Self>, exchange: &Rc<Exchange>) -> bool {
        let now = exchange.arrived;
        let pool = self.queue.pool(exchange);
        if !pool.has_share() || self.queue.has_before(pool.priority) {
            return false;
        }
        let Some(lane) = self.choose(now) else {
            return false;
        };
        self.begin(&lane, exchange, now);
        if lane.is_ahead() {
            self.rebalance_soon();
        }
        true
    }

    /// The lane for the next request. `None` if requests are held, or if no lane has room.
    fn choose(&self, now: Instant) -> Option<Rc<Lane>> {
        if self.is_held() {
            return None;
        }
        self.lanes.choose(now)
    }

    fn begin(&self, lane: &Rc<Lane>, exchange: &Rc<Exchange>, now: Instant) {
        self.lanes.note_used(lane);
        let asks = self.resting.wait_beyond_rests(exchange.arrived, now);
        let pool = self.queue.pool(exchange);
        pool.queue.note_begun(exchange, asks, now);
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
    pub(crate) fn refill(&self, lane: &Rc<Lane>, now: Instant) {
        if lane.trial.is_on() {
            return;
        }
        while !self.is_held() && lane.has_room(now) {
            let Some(exchange) = self.queue.take_next() else {
                break;
            };
            self.begin(lane, &exchange, now);
        }
        self.note_idle(lane);
    }

    /// Moves requests from the queue to every lane that has room.
    pub(crate) fn hand_out(&self, now: Instant) {
        while self.queue.has_next() {
            let Some(lane) = self.choose(now) else {
                break;
            };
            let Some(exchange) = self.queue.take_next() else {
                self.note_idle(&lane);
                break;
            };
            self.begin(&lane, &exchange, now);
        }
    }

    /// How long requests waited for a lane since the last call, on average, and how many wait now, as far as more workers
    /// would help. Held requests do not count, nor waits for a worker that rests, nor as many requests as it will serve.
    pub fn take_queue_time(&self) -> (Duration, usize) {
        let now = clock::now();
        let wait = |arrived| self.resting.wait_beyond_rests(arrived, now);
        let (time, waiting) = self.queue.take_time(self.is_held(), wait);
        (time, waiting.saturating_sub(self.lanes.resting_slots()))
    }

    /// Adds a lane to the idle lanes if it holds no request and its thread is not stalled. A lane that is not open
    /// takes the next step towards its end, or its worker's rest.
    pub(crate) fn note_idle(&self, lane: &Rc<Lane>) {
        if !lane.is_empty() {
            return;
        }
        match lane.state() {
            LaneState::Open if lane.stall.is_on() => {}
            LaneState::Open => self.lanes.note_idle(lane),
            LaneState::Resting => self.advance_rests(clock::now()),
            LaneState::Draining => self.events.send(LaneEvent::Drained(lane.tag)),
            LaneState::Opening | LaneState::Closed => {}
        }
    }

    /// A worker's lane takes requests.
    pub(crate) fn lane_opened(&self, lane: &Rc<Lane>) {
        if lane.trial.is_on() {
            if let Some(exchange) = lane.trial.take_first() {
                self.begin(lane, &exchange, clock::now());
            }
            return;
        }
        self.lanes.add(lane);
        self.refill(lane, clock::now());
    }

    /// Sends a request to a lane on trial.
    pub fn try_on(&self, lane: &Rc<Lane>, call: Call) -> PendingReply {
        let exchange = Rc::new(Exchange::new(call));
        match lane.state() {
            LaneState::Open | LaneState::Resting => self.begin(lane, &exchange, clock::now()),
            // The worker's READY arrives on the control socket, and may arrive before the HELLO that opens the lane.
            LaneState::Opening => lane.trial.keep_first(Rc::clone(&exchange)),
            LaneState::Draining | LaneState::Closed => exchange.settle(Err(Refusal::WorkerLost)),
        }
        PendingReply::new(exchange)
    }

    /// The lane takes requests from the queue from now on.
    pub fn admit_lane(&self, lane: &Rc<Lane>) {
        lane.trial.end();
        if lane.state() == LaneState::Open {
            self.lane_opened(lane);
        }
    }

    /// Sends no more requests to this worker. [`LaneEvent::Drained`] reports each lane that has
    /// finished.
    pub fn drain(&self, worker: WorkerId) {
        self.lanes.forget_idle_of(worker);
        let lanes = self.lanes.of_worker(worker);
        let takes = |lane: &&Rc<Lane>| matches!(lane.state(), LaneState::Open | LaneState::Resting);
        for lane in lanes.iter().filter(takes) {
            lane.set_state(LaneState::Draining);
            self.tunnels.begin(lane);
            self.note_idle(lane);
        }
        self.resting.forget(worker, clock::now());
        self.advance_rests(clock::now());
    }

    /// The worker closed the lane, or died: requests that it had not begun return to the queue.
    pub(crate) fn lane_lost(&self, lane: &Rc<Lane>, broken: Option<io::Error>) {
        lane.set_state(LaneState::Closed);
        self.lanes.remove(lane);
        if self.lanes.of_worker(lane.tag.worker).is_empty() {
            self.resting.forget(lane.tag.worker, clock::now());
        }
        self.advance_rests(clock::now());
        if let Some(error) = broken {
            self.log
                .error("lane broken", &[("lane", &lane.tag), ("cause", &error)]);
        }
        if lane.trial.is_on() {
            refuse_trial(lane);
        } else {
            let lost = |exchange: &Exchange| {
                report_request("request lost with its worker", lane, exchange, &self.log);
            };
            self.requeue(&fail_over(lane, lost));
        }
        self.events.send(LaneEvent::Lost(lane.tag));
    }

    /// Returns requests to the front of the queue in their order, and then to lanes with room.
    pub(crate) fn requeue(&self, back: &[Rc<Exchange>]) {
        self.queue.put_back(back);
        self.hand_out(clock::now());
    }

    /// Takes back the requests that the worker of a lane has not begun, and returns them to the queue.
    pub(crate) fn recall(&self, lane: &Lane) {
        match lane.recall() {
            Ok(back) => self.requeue(&back),
            Err(error) => {
                self.log.error(
                    "cannot recall requests",
                    &[("lane", &lane.tag), ("cause", &error)],
                );
            }
        }
    }

    /// Recalls requests that wait in a lane behind a slow request, if another lane would begin them at once, or if they
    /// have waited for long.
    pub(crate) fn rebalance(&self, now: Instant) {
        for (lane, waited) in Rebalance::surplus(&self.lanes, now) {
            if Rebalance::recalls(&self.lanes, waited, now) {
                lane.stall.begin(now);
                self.recall(&lane);
            }
        }
    }

    /// Schedules a rebalance, if one may have an effect.
    pub(crate) fn rebalance_soon(self: &Rc<Self>) {
        if self.rebalance.schedule(&self.lanes) {
            let dispatcher = Rc::clone(self);
            spawn_local(async move {
                tokio::time::sleep(Rebalance::DELAY).await;
                dispatcher.rebalance.begin();
                dispatcher.rebalance(clock::now());
                // A request that has just begun may turn out to be slow by the next rebalance.
                dispatcher.rebalance_soon();
            });
        }
    }

    /// Whether requests are held: by `carat pause`, because no worker runs, or while code is loaded.
    pub(crate) fn is_held(&self) -> bool {
        let holds = [&self.hold, &self.downtime, &self.renewal.hold];
        holds.into_iter().any(Hold::is_on)
    }

    /// Holds the requests while no worker runs and a mold boots. The wait does not count against `queue_timeout`.
    pub fn await_workers(&self, now: Instant) {
        self.downtime.begin(now, Duration::ZERO);
        self.queue.restart_delay();
    }

    /// Ends the hold of `await_workers`: workers serve again, or are about to.
    pub fn end_wait(&self, now: Instant) {
        if self.downtime.end(now) {
            self.resume(now);
        }
    }

    /// Sends no request to a worker for `duration`. A hold that is already on ends after `duration`, too. Requests that
    /// no worker has begun return to the queue.
    pub fn hold(&self, now: Instant, duration: Duration) {
        self.hold.begin(now, duration);
        self.queue.restart_delay();
        for lane in self.lanes.list() {
            self.recall(&lane);
        }
    }

    /// Sends requests to the workers again. False if none were held.
    pub fn release_hold(&self, now: Instant) -> bool {
        let was_held = self.hold.end(now);
        if was_held {
            self.resume(now);
        }
        was_held
    }

    /// Sends the requests that waited for changed code to the workers.
    pub fn end_renewal(&self) {
        let now = clock::now();
        if self.renewal.hold.end(now) {
            self.resume(now);
        }
    }

    /// Gives the tunnels of all workers at most `tunnel_timeout` until they are closed: the server stops.
    pub fn drain_tunnels(&self) {
        self.tunnels.begin_all(&self.lanes);
    }

    /// Excludes a time in which the server stood still from all timeouts. It has just ended.
    pub fn note_freeze(&self, now: Instant, duration: Duration) {
        self.timeouts.note_freeze(now, duration);
        self.resting.note_freeze(duration);
    }

    /// Responds to all requests that wait for a worker.
    pub fn answer_waiting(&self, response: impl Fn(&Parts) -> Response<ReplyBody>) {
        for exchange in self.queue.take_all() {
            self.answer(&exchange, response(&exchange.call.parts));
        }
    }

    /// Responds to a request in place of the application.
    fn answer(&self, exchange: &Exchange, response: Response<ReplyBody>) {
        exchange.call.discard_body();
        exchange.settle(Ok(Reply {
            response,
            spooled: SpoolReservation::of(&self.spool_quota),
            times: RequestTimes {
                queue: exchange.waited(clock::now()),
                ..RequestTimes::default()
            },
        }));
    }

    /// Hands out the requests that wait: a hold has ended.
    fn resume(&self, now: Instant) {
        self.queue.restart_delay();
        for lane in self.lanes.list() {
            self.note_idle(&lane);
        }
        self.hand_out(now);
    }

    /// Enforces the timeouts of requests. Called once a tick.
    pub fn tick(&self) {
        end_hold(self, clock::now());
        self.expire_waiting(clock::now());
        self.rebalance(clock::now());
        // When a worker begins a request, its lane may get room. No event reports that, so the queue is looked at here.
        self.hand_out(clock::now());
        self.advance_rests(clock::now());
        self.lanes.note_slow(&self.timeouts, &self.events);
        self.expire_running(clock::now());
        expire_tunnels(self, clock::now());
        let limit = self.timeouts.settings().queue_limit;
        self.queue.report_refused(limit, &self.log);
    }

    /// Refuses every pending request, because the server stops. A client is asked to repeat its request only if no
    /// worker has begun it. Requests that arrive from now on are refused, too.
    pub fn give_up_all(&self) {
        self.is_over.set(true);
        self.tunnels.close_all(&self.lanes);
        for exchange in self.queue.take_all() {
            cut_off(&exchange, Refusal::Stopping, &self.log);
        }
        for lane in self.lanes.take_all() {
            cut_off_lane(&lane, &self.log);
        }
    }
}

/// Ends a pause whose time is over.
fn end_hold(dispatcher: &Dispatcher, now: Instant) {
    let left = dispatcher.hold.left(now);
    if left.is_some_and(|left| left.is_zero()) {
        dispatcher.release_hold(now);
        let log = &dispatcher.log;
        log.info("resumed", &[("cause", &"the pause is over")]);
    }
}

/// Closes the tunnels that have drained for longer than `tunnel_timeout`.
fn expire_tunnels(dispatcher: &Dispatcher, now: Instant) {
    let limit = dispatcher.timeouts.tunnel_timeout(now);
    let (lanes, events) = (&dispatcher.lanes, &dispatcher.events);
    dispatcher.tunnels.expire(limit, now, lanes, events);
}
