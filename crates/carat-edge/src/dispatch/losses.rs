use std::io;
use std::rc::Rc;
use std::time::Instant;

use carat_wire::is_behind;
use carat_wire::stream::encode_abort;
use tokio::task::spawn_local;

use super::dispatcher::Dispatcher;
use super::exchange::{Exchange, Line};
use super::holding::{Held, Stage};
use super::lane::Lane;
use super::lane_event::LaneEvent;
use super::lane_state::State;
use super::pace::PREFETCH_WAIT;
use crate::http::Refusal;

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
        self.events.send(LaneEvent::Lost(lane.tag));
    }

    /// Settles or requeues what a lane holds, the oldest to the front of the queue.
    fn give_back(&self, lane: &Lane) {
        let begun = lane.begun();
        let not_begun = |id| is_behind(id, begun);
        let mut back = Vec::new();
        for Held { id, stage, .. } in lane.take_held() {
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

    /// Takes back what waits in a lane behind a slow request, while another lane would begin it.
    pub(super) fn rebalance(&self, now: Instant) {
        // First, because it looks at what each has begun.
        let surplus = self.lanes_with_surplus(now);
        if self.has_taker(now) {
            for lane in surplus {
                self.recall(&lane);
            }
        }
    }

    /// Sees to it soon that nothing waits in a lane while another would begin it.
    pub(super) fn rebalance_soon(self: &Rc<Self>) {
        if self.may_rebalance() && !self.rebalancing.replace(true) {
            let dispatcher = Rc::clone(self);
            spawn_local(async move {
                tokio::time::sleep(PREFETCH_WAIT * 2).await;
                dispatcher.rebalancing.set(false);
                dispatcher.rebalance(Instant::now());
                if dispatcher.has_several_of_many() {
                    // That such a lane does not go on is seen only from one look to the next.
                    dispatcher.rebalance_soon();
                }
            });
        }
    }

    fn may_rebalance(&self) -> bool {
        (self.has_idle_lane() || self.has_several_of_many())
            && self.lanes.borrow().iter().any(|lane| lane.is_ahead())
    }

    fn has_several_of_many(&self) -> bool {
        let lanes = self.lanes.borrow();
        lanes.len() > 1 && lanes.iter().any(|lane| lane.is_of_many())
    }

    /// Whether a lane would begin at once what waits in another.
    fn has_taker(&self, now: Instant) -> bool {
        let is_free = |lane: &Rc<Lane>| lane.is_of_many() && lane.is_quick() && lane.has_room(now);
        self.has_idle_lane() || self.lanes.borrow().iter().any(is_free)
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
        self.end_overdue();
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

    fn end_overdue(&self) {
        let (now, limit) = (Instant::now(), self.settings.request_timeout);
        let lanes = self.lanes.borrow().clone();
        for lane in lanes {
            let overdue = lane.overdue(now, limit);
            if let Some(first) = overdue.first() {
                self.give_up(&lane, &overdue, now);
                let tag = lane.tag;
                // One that tells where it stands is enough.
                self.events.send(LaneEvent::Stuck {
                    tag,
                    request: *first,
                });
            }
        }
    }

    /// The application did not begin these answers in time: the clients are told, and the worker is to be
    /// replaced. What it has not begun is taken back; others that the lane holds may finish.
    fn give_up(&self, lane: &Rc<Lane>, overdue: &[u32], now: Instant) {
        self.rest_no_more(lane);
        lane.set_state(State::Draining);
        for id in overdue {
            if let Some(Stage::Waiting(exchange)) = lane.release(*id, now).map(|held| held.stage) {
                self.report("request timed out", lane, &exchange);
                exchange.settle(Err(Refusal::AppTimeout));
            }
        }
        self.recall(lane);
    }

    /// Settles everything that is not answered: the server ends.
    pub(crate) fn give_up_all(&self) {
        let waiting = self.queue.take();
        let lanes = self.lanes.take();
        let held = lanes
            .iter()
            .flat_map(|lane| lane.take_held().map(move |held| (lane, held)));
        let running = held.filter_map(|(lane, held)| match held.stage {
            Stage::Waiting(exchange) => Some(exchange),
            Stage::Streaming(sender, _) => {
                sender.fail();
                lane.push(|out| encode_abort(out, held.id));
                None
            }
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

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::super::dispatcher::tests::{Fixture, locally};
    use super::*;
    use crate::dispatch::{Answer, Asking};

    fn outcome(asking: Asking) -> Poll<Result<Answer, Refusal>> {
        pin!(asking).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_dead_worker_of_many_gives_back_what_may_be_asked_again_in_its_order() {
        locally(|| {
            let fixture = Fixture::new(&[256]);
            let methods = ["GET", "POST", "HEAD", "PUT", "OPTIONS", "POST", "GET"];
            let paths = ["/1", "/2", "/3", "/4", "/5", "/6", "/7"];
            let mut asked: Vec<_> = methods
                .iter()
                .zip(paths)
                .map(|(method, path)| fixture.ask(method, path))
                .collect();
            fixture.lanes[0].worker_begins(5);
            fixture.dispatcher.lane_lost(&fixture.lanes[0], None);

            assert_eq!(fixture.queue(), ["/1", "/3", "/5", "/6", "/7"]);
            for place in [3, 1] {
                assert!(matches!(
                    outcome(asked.remove(place)),
                    Poll::Ready(Err(Refusal::WorkerLost))
                ));
            }
            assert!(asked.into_iter().all(|asking| outcome(asking).is_pending()));
        });
    }

    #[test]
    fn what_has_begun_twice_is_not_asked_a_third_time() {
        locally(|| {
            let fixture = Fixture::new(&[256, 256]);
            let asked = fixture.ask("GET", "/");
            for lane in fixture.lanes.iter().rev() {
                assert_eq!(lane.held().len(), 1);
                lane.worker_begins(1);
                fixture.dispatcher.lane_lost(lane, None);
            }
            assert!(matches!(
                outcome(asked),
                Poll::Ready(Err(Refusal::WorkerLost))
            ));
        });
    }

    #[test]
    fn only_the_request_that_takes_too_long_is_given_up() {
        locally(|| {
            let mut fixture = Fixture::new(&[256]);
            let mut asked: Vec<_> = ["/1", "/2", "/3", "/4"]
                .iter()
                .map(|path| fixture.ask("POST", path))
                .collect();
            let lane = Rc::clone(&fixture.lanes[0]);
            lane.worker_begins(3);
            fixture.dispatcher.give_up(&lane, &[2], Instant::now());

            assert!(matches!(
                outcome(asked.remove(1)),
                Poll::Ready(Err(Refusal::AppTimeout))
            ));
            assert_eq!(
                (lane.ids(), fixture.queue()),
                (vec![1, 3], vec!["/4".to_owned()])
            );
            assert!(!lane.has_room(Instant::now()));
            assert!(!fixture.dispatcher.is_drained(lane.tag.worker));

            lane.release(1, Instant::now());
            lane.release(3, Instant::now());
            fixture.dispatcher.refill(&lane, Instant::now());
            assert!(fixture.dispatcher.is_drained(lane.tag.worker));
            assert!(
                matches!(fixture.events.try_recv(), Ok(LaneEvent::Drained(tag)) if tag == lane.tag)
            );
        });
    }

    #[test]
    fn what_a_computing_worker_has_not_begun_goes_to_one_that_works() {
        locally(|| {
            let fixture = Fixture::new(&[256, 256]);
            let asked: Vec<_> = (0..6).map(|_| fixture.ask("POST", "/")).collect();
            let now = Instant::now();
            let (computing, working) = (&fixture.lanes[0], &fixture.lanes[1]);
            computing.worker_begins(1);
            working.worker_begins(3);
            for look in 1..=4 {
                fixture.dispatcher.rebalance(now + PREFETCH_WAIT * 2 * look);
            }
            assert_eq!(fixture.load(), [1, 5]);

            let more = fixture.ask("GET", "/");
            assert_eq!(fixture.load(), [1, 6]);
            computing.heard();
            let last = fixture.ask("GET", "/");
            assert_eq!(fixture.load(), [2, 6]);
            drop((asked, more, last));
        });
    }

    #[test]
    fn nothing_is_moved_between_workers_that_both_compute() {
        locally(|| {
            let fixture = Fixture::new(&[256, 256]);
            let asked: Vec<_> = (0..4).map(|_| fixture.ask("POST", "/")).collect();
            let now = Instant::now();
            for lane in &fixture.lanes {
                lane.worker_begins(1);
            }
            for look in 1..=9 {
                fixture.dispatcher.rebalance(now + PREFETCH_WAIT * 2 * look);
            }
            assert_eq!((fixture.load(), asked.len()), (vec![2, 2], 4));
            assert_eq!(fixture.lanes[0].ids(), fixture.lanes[1].ids());
        });
    }

    #[test]
    fn at_the_end_everybody_who_waits_is_told() {
        locally(|| {
            let fixture = Fixture::new(&[100]);
            let asked: Vec<_> = (0..101).map(|_| fixture.ask("GET", "/")).collect();
            fixture.dispatcher.give_up_all();
            let told = |asking| matches!(outcome(asking), Poll::Ready(Err(Refusal::Stopping)));
            assert!(asked.into_iter().all(told));
        });
    }
}
