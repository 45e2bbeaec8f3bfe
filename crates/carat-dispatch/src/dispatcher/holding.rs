use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::dispatcher::Dispatcher;
use carat_log::WorkerId;

/// Holding requests back.
impl Dispatcher {
    /// Sends no request to a worker for this long. A hold that is on ends then instead. Requests that no worker has
    /// begun return to the queue.
    pub fn hold(&self, now: Instant, duration: Duration) {
        self.hold.begin(now, duration);
        let lanes = self.lanes.borrow().clone();
        for lane in &lanes {
            self.recall(lane);
        }
    }

    /// Sends requests to the workers again. False if none were held.
    pub fn release_hold(&self, now: Instant) -> bool {
        if !self.hold.end(now) {
            return false;
        }
        self.resume(now);
        true
    }

    /// A hold has ended.
    pub(crate) fn resume(&self, now: Instant) {
        let lanes = self.lanes.borrow().clone();
        for lane in lanes.iter().filter(|lane| lane.is_empty()) {
            self.note_idle(lane);
        }
        self.hand_out(now);
    }

    /// Whether requests wait although workers may be free.
    pub(crate) fn is_held(&self) -> bool {
        self.hold.is_on() || self.is_loading()
    }

    /// How much longer requests are held.
    pub fn held_for(&self, now: Instant) -> Option<Duration> {
        self.hold.left(now)
    }

    /// How many requests the workers have begun, or are about to.
    pub fn running(&self) -> usize {
        let lanes = self.lanes.borrow();
        lanes
            .iter()
            .map(|lane: &Rc<_>| lane.in_flight().len())
            .sum()
    }

    /// How many requests this worker has.
    pub fn running_on(&self, worker: WorkerId) -> usize {
        let lanes = self.lanes_of(worker);
        lanes.iter().map(|lane| lane.in_flight().len()).sum()
    }

    /// How many requests wait for a worker.
    pub fn waiting(&self) -> usize {
        let queue = self.queue.borrow();
        queue.iter().filter(|it| !it.is_cancelled()).count()
    }

    /// Ends a hold whose time is over. Called once a tick.
    pub(crate) fn end_hold(&self, now: Instant) {
        let is_over = self.held_for(now).is_some_and(|left| left.is_zero());
        if is_over {
            self.release_hold(now);
            self.log.info("resumed", &[("cause", &"the pause is over")]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Fixture, locally};

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn held_requests_wait_and_are_sent_in_their_order() {
        locally(|| {
            let fixture = Fixture::new(&[3]);
            let now = Instant::now();
            let before = fixture.dispatch("GET", "/before");
            fixture.lanes[0].worker_begins(1);
            fixture.dispatcher.hold(now, MINUTE);
            let held = [fixture.dispatch("GET", "/1")];
            assert_eq!((fixture.load(), fixture.queue().len()), (vec![1], 1));
            assert!(fixture.dispatcher.release_hold(now + MINUTE));
            assert_eq!((fixture.load(), fixture.queue().len()), (vec![2], 0));
            assert!(!fixture.dispatcher.release_hold(now + MINUTE));
            drop((before, held));
        });
    }

    #[test]
    fn requests_that_no_worker_has_begun_are_held_too() {
        locally(|| {
            let fixture = Fixture::new(&[3]);
            let pending = fixture.dispatch("GET", "/1");
            fixture.dispatcher.hold(Instant::now(), MINUTE);
            assert_eq!(
                (fixture.load(), fixture.queue()),
                (vec![0], vec!["/1".to_owned()])
            );
            fixture.dispatcher.release_hold(Instant::now());
            assert_eq!(fixture.load(), [1]);
            drop(pending);
        });
    }

    #[test]
    fn a_full_queue_refuses_requests_that_would_be_held() {
        locally(|| {
            let fixture = Fixture::new(&[3]);
            fixture.dispatcher.hold(Instant::now(), MINUTE);
            let held = fixture.dispatch("GET", "/1");
            let call = carat_exchange::Call::plain("GET", "/2");
            assert!(fixture.dispatcher.dispatch(call).is_err());
            drop(held);
        });
    }

    #[test]
    fn a_hold_ends_by_itself_and_extends_the_time_that_requests_may_wait() {
        locally(|| {
            let fixture = Fixture::new(&[3]);
            let now = Instant::now();
            fixture.dispatcher.hold(now, MINUTE);
            fixture.dispatcher.end_hold(now + MINUTE / 2);
            assert_eq!(
                fixture.dispatcher.held_for(now + MINUTE / 2),
                Some(MINUTE / 2)
            );
            fixture.dispatcher.end_hold(now + MINUTE);
            assert_eq!(fixture.dispatcher.held_for(now + MINUTE), None);
            let limit = fixture.dispatcher.hold.extend(MINUTE, now + MINUTE);
            assert_eq!(limit, MINUTE * 2);
        });
    }
}
