use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::lane_choice::LaneChoice;
use crate::lanes::{Lane, PREFETCH_WAIT};

/// How long a request may wait in a lane while every other lane is busy. Lanes that finish sooner would otherwise serve
/// requests that arrived later. The limit is longer than most pauses of a machine.
const OVERTAKEN_WAIT: Duration = Duration::from_millis(100);

/// Finds requests that wait in one lane while another lane would begin them.
#[derive(Debug, Default)]
pub(crate) struct Rebalance {
    is_scheduled: Cell<bool>,
}

impl Rebalance {
    /// How long after its scheduling a rebalance begins.
    pub(crate) const DELAY: Duration = PREFETCH_WAIT.saturating_mul(2);

    /// Whether to schedule a rebalance: one may have an effect, and none is scheduled.
    pub(crate) fn schedule(&self, lanes: &LaneChoice) -> bool {
        let is_due = !self.is_scheduled.get() && may_have_effect(lanes);
        if is_due {
            self.is_scheduled.set(true);
        }
        is_due
    }

    /// The scheduled rebalance begins.
    pub(crate) fn begin(&self) {
        self.is_scheduled.set(false);
    }

    /// The lanes in which requests wait, and for how long. Records what each lane has begun.
    pub(crate) fn surplus(lanes: &LaneChoice, now: Instant) -> Vec<(Rc<Lane>, Duration)> {
        let waited = |lane: Rc<Lane>| {
            let waited = lane.surplus(now);
            (!waited.is_zero()).then_some((lane, waited))
        };
        lanes.list().into_iter().filter_map(waited).collect()
    }

    /// Whether requests that have waited in a lane for this long are recalled: another lane would begin them, or the
    /// wait exceeds `OVERTAKEN_WAIT`.
    pub(crate) fn recalls(lanes: &LaneChoice, waited: Duration, now: Instant) -> bool {
        waited > OVERTAKEN_WAIT || has_taker(lanes, now)
    }
}

fn may_have_effect(lanes: &LaneChoice) -> bool {
    (lanes.has_idle() || lanes.has_several_concurrent()) && lanes.any(Lane::is_ahead)
}

/// Whether another lane would begin a request at once.
fn has_taker(lanes: &LaneChoice, now: Instant) -> bool {
    let is_prompt = |lane: &Lane| lane.is_concurrent() && lane.is_prompt() && lane.has_room(now);
    lanes.has_idle() || lanes.any(is_prompt)
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
            computing.stall.end();
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
            let found = (fixture.load(), fixture.queue());
            assert_eq!(found, (vec![0, 1], vec!["/next".to_owned()]));
            lane.stall.end();
            fixture.dispatcher.refill(lane, now);
            assert_eq!(fixture.load(), [1, 1]);
            drop((pending, next));
        });
    }
}
