use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::task::spawn_local;

use crate::canary::Code;
use crate::dispatcher::Dispatcher;
use crate::lanes::{Lane, PREFETCH_WAIT};

use carat_exchange::clock;

/// How long a request may wait in a lane while every other lane is busy. Lanes that finish sooner would otherwise serve
/// requests that came later. A pause of the machine is shorter.
const OVERTAKEN_WAIT: Duration = Duration::from_millis(100);

/// Requests that wait in one lane while another lane would begin them.
impl Dispatcher {
    /// Recalls requests that wait in a lane behind a slow one, if another lane would begin them, or has had the time to.
    pub(crate) fn rebalance(&self, now: Instant) {
        // First, because this also records what each lane has begun.
        let surplus = self.lanes_with_surplus(now);
        for (lane, waited) in surplus {
            if waited > OVERTAKEN_WAIT || self.has_taker(self.code_of(&lane), now) {
                lane.stall(now);
                self.recall(&lane);
            }
        }
    }

    /// Schedules a rebalance, if one may have an effect.
    pub(crate) fn rebalance_soon(self: &Rc<Self>) {
        if !self.rebalancing.get() && self.may_rebalance() {
            self.rebalancing.set(true);
            let dispatcher = Rc::clone(self);
            spawn_local(async move {
                tokio::time::sleep(PREFETCH_WAIT * 2).await;
                dispatcher.rebalancing.set(false);
                dispatcher.rebalance(clock::now());
                // Until the next look, a request that has just begun may turn out to be slow.
                dispatcher.rebalance_soon();
            });
        }
    }

    /// Returns the requests that a lane has not begun to the queue.
    pub(crate) fn recall(&self, lane: &Rc<Lane>) {
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

    fn may_rebalance(&self) -> bool {
        (self.has_idle_lane(None) || self.has_several_concurrent())
            && self.lanes.borrow().iter().any(|lane| lane.is_ahead())
    }

    fn has_several_concurrent(&self) -> bool {
        let lanes = self.lanes.borrow();
        lanes.len() > 1 && lanes.iter().any(|lane| lane.is_concurrent())
    }

    /// Whether some lane would begin at once what waits in another, of a worker with this code; `None` is for any.
    fn has_taker(&self, code: Option<Code>, now: Instant) -> bool {
        let is_prompt =
            |lane: &Rc<Lane>| lane.is_concurrent() && lane.is_prompt() && lane.has_room(now);
        let is_free = |lane: &Rc<Lane>| self.runs(lane, code) && is_prompt(lane);
        self.has_idle_lane(code) || self.lanes.borrow().iter().any(is_free)
    }

    fn lanes_with_surplus(&self, now: Instant) -> Vec<(Rc<Lane>, Duration)> {
        let lanes = self.lanes.borrow();
        lanes
            .iter()
            .map(|lane| (Rc::clone(lane), lane.surplus(now)))
            .filter(|(_, waited)| !waited.is_zero())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Fixture, locally};

    #[test]
    fn requests_of_a_computing_worker_move_to_another() {
        locally(|| {
            let fixture = Fixture::new(&[256, 256]);
            let pending: Vec<_> = (0..6).map(|_| fixture.dispatch("POST", "/")).collect();
            let now = Instant::now();
            let (computing, working) = (&fixture.lanes[0], &fixture.lanes[1]);
            computing.worker_begins(1);
            working.worker_begins(3);
            for look in 1..=4 {
                fixture.dispatcher.rebalance(now + PREFETCH_WAIT * 2 * look);
            }
            assert_eq!(fixture.load(), [1, 5]);

            let more = fixture.dispatch("GET", "/");
            assert_eq!(fixture.load(), [1, 6]);
            computing.note_received();
            let last = fixture.dispatch("GET", "/");
            assert_eq!(fixture.load(), [2, 6]);
            drop((pending, more, last));
        });
    }

    #[test]
    fn requests_stay_when_every_worker_computes() {
        locally(|| {
            let fixture = Fixture::new(&[256, 256]);
            let pending: Vec<_> = (0..4).map(|_| fixture.dispatch("POST", "/")).collect();
            let now = Instant::now();
            for lane in &fixture.lanes {
                lane.worker_begins(1);
            }
            for look in 1..=9 {
                fixture.dispatcher.rebalance(now + PREFETCH_WAIT * 2 * look);
            }
            assert_eq!((fixture.load(), pending.len()), (vec![2, 2], 4));
            assert_eq!(fixture.lanes[0].ids(), fixture.lanes[1].ids());
        });
    }

    #[test]
    fn a_request_on_a_thread_that_does_not_begin_it_moves_to_another() {
        locally(|| {
            let fixture = Fixture::new(&[1, 1]);
            let pending = fixture.dispatch("POST", "/");
            let first = usize::from(fixture.lanes[0].is_empty());
            let now = Instant::now() + PREFETCH_WAIT * 2;
            fixture.dispatcher.rebalance(now);
            assert_eq!(fixture.lanes[first].in_flight().len(), 0);
            assert_eq!(fixture.lanes[1 - first].in_flight().len(), 1);
            fixture.lanes[1 - first].worker_begins(1);
            fixture.dispatcher.rebalance(now + OVERTAKEN_WAIT * 2);
            assert_eq!(fixture.lanes[1 - first].in_flight().len(), 1);
            drop(pending);
        });
    }

    #[test]
    fn a_request_behind_a_slow_one_is_not_overtaken_for_long() {
        locally(|| {
            let fixture = Fixture::new(&[1, 1]);
            let pending: Vec<_> = (0..2).map(|_| fixture.dispatch("POST", "/slow")).collect();
            let lane = &fixture.lanes[0];
            lane.worker_begins(1);
            fixture.lanes[1].worker_begins(1);
            let now = Instant::now();
            let next = fixture.dispatch("POST", "/next");
            lane.release(1, now);
            fixture.dispatcher.refill(lane, now);
            fixture.dispatcher.rebalance(now + OVERTAKEN_WAIT / 2);
            assert_eq!(fixture.load(), [1, 1]);
            fixture.dispatcher.rebalance(now + OVERTAKEN_WAIT * 2);
            assert_eq!(
                (fixture.load(), fixture.queue()),
                (vec![0, 1], vec!["/next".to_owned()])
            );
            lane.note_received();
            fixture.dispatcher.refill(lane, now);
            assert_eq!(fixture.load(), [1, 1]);
            drop((pending, next));
        });
    }
}
