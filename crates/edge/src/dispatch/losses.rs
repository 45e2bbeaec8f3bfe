use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::task::spawn_local;
use wire::control::Page;

use super::dispatcher::Dispatcher;
use super::exchange::{Exchange, Line};
use super::lane::{Held, Lane, Stage};
use super::pace::PREFETCH_WAIT;
use crate::http::Refusal;
use crate::supervise::Event;

/// What happens to requests that are not answered.
impl Dispatcher {
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

    /// Settles or requeues what a lane holds, the oldest to the front of the queue.
    fn give_back(&self, lane: &Lane) {
        let begun = lane.begun();
        let not_begun = |id| Page::is_behind(id, begun);
        let mut back = Vec::new();
        for Held { id, stage } in lane.take_held() {
            match stage {
                Stage::Streaming(sender, _) => sender.fail(),
                Stage::Waiting(exchange) if exchange.is_cancelled() || exchange.is_settled() => {}
                Stage::Waiting(exchange) => {
                    let may_repeat = || exchange.may_repeat() && !exchange.retried.replace(true);
                    if not_begun(id) || may_repeat() {
                        back.push(exchange);
                    } else {
                        self.report("request lost with its worker", lane, &exchange);
                        exchange.settle(Err(Refusal::WorkerLost));
                    }
                }
            }
        }
        self.requeue(back);
    }

    /// Puts requests back in front of the queue, in their order, and gives them to whoever has room.
    pub(super) fn requeue(&self, back: Vec<Rc<Exchange>>) {
        for exchange in back.into_iter().rev() {
            self.queue.borrow_mut().push_front(exchange);
        }
        self.hand_out(Instant::now());
    }

    /// Takes back what waits in a lane behind a slow request, while another lane has nothing to do.
    pub(super) fn rebalance(&self, now: Instant) {
        if !self.has_idle_lane() {
            return;
        }
        for lane in self.lanes_with_surplus(now) {
            self.recall(&lane);
        }
    }

    /// Sees to it soon that nothing waits in a lane while another has nothing to do.
    pub(super) fn rebalance_soon(self: &Rc<Self>) {
        if !self.has_idle_lane() || !self.lanes.borrow().iter().any(|lane| lane.is_ahead()) {
            return;
        }
        if !self.rebalancing.replace(true) {
            let dispatcher = Rc::clone(self);
            spawn_local(async move {
                tokio::time::sleep(PREFETCH_WAIT * 2).await;
                dispatcher.rebalancing.set(false);
                dispatcher.rebalance(Instant::now());
            });
        }
    }

    fn lanes_with_surplus(&self, now: Instant) -> Vec<Rc<Lane>> {
        let lanes = self.lanes.borrow();
        lanes
            .iter()
            .filter(|lane| lane.has_surplus(now))
            .cloned()
            .collect()
    }

    fn recall(&self, lane: &Rc<Lane>) {
        match lane.recall() {
            Ok(back) => self.requeue(back),
            Err(error) => {
                self.log.error(
                    "cannot recall requests",
                    &[("lane", &lane.tag), ("cause", &error)],
                );
            }
        }
    }

    /// Looks for requests that have waited or run too long. Called once a tick.
    pub(crate) fn tick(&self) {
        self.expire_waiting();
        self.rebalance(Instant::now());
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
        let held = lane.held();
        let Some(Held {
            stage: Stage::Waiting(exchange),
            ..
        }) = held.front()
        else {
            return false;
        };
        let now = Instant::now();
        let intake = exchange.call.intake();
        // While the application waits for its client, or has only just heard of it, it is not stuck.
        let stood_still = intake.map_or(Duration::MAX, |intake| intake.stood_still(now));
        lane.running(now).min(stood_still) > self.settings.request_timeout
    }

    /// The application did not begin its answer in time: the client is told, and the worker is to be
    /// replaced. What waits behind it on the lane is taken back.
    fn give_up(&self, lane: &Rc<Lane>) {
        self.close(lane);
        let front = lane.held().front().map(|held| held.id);
        if let Some(Stage::Waiting(exchange)) =
            front.and_then(|id| lane.release(id, Instant::now()))
        {
            self.report("request timed out", lane, &exchange);
            exchange.settle(Err(Refusal::AppTimeout));
        }
        self.recall(lane);
        self.events.send(Event::LaneStuck(lane.tag));
    }

    /// Settles everything that is not answered: the server ends.
    pub(crate) fn give_up_all(&self) {
        let waiting = self.queue.take();
        let lanes = self.lanes.take();
        let held = lanes.iter().flat_map(|lane| lane.take_held());
        let running = held.filter_map(|held| match held.stage {
            Stage::Waiting(exchange) => Some(exchange),
            Stage::Streaming(..) => None,
        });
        for exchange in waiting.into_iter().chain(running) {
            self.log.warn(
                "request cut off by the stop",
                &[("request", &Line(&exchange))],
            );
            exchange.settle(Err(Refusal::Stopping));
        }
    }
}
