use std::rc::Rc;

use crate::dispatcher::Dispatcher;
use crate::lanes::{Exchange, Lane, LaneState, PendingReply, RequestStage};
use carat_exchange::{Call, Refusal, clock};

/// Lanes of a worker on trial: they get no request from the queue.
impl Dispatcher {
    /// Sends a request to a lane on trial.
    pub fn try_on(&self, lane: &Rc<Lane>, call: Call) -> PendingReply {
        let exchange = Rc::new(Exchange::new(call));
        match lane.state() {
            LaneState::Open => self.begin(lane, &exchange, clock::now()),
            // The worker said READY on another socket.
            LaneState::Opening => lane.keep_first(Rc::clone(&exchange)),
            LaneState::Draining | LaneState::Closed => exchange.settle(Err(Refusal::WorkerLost)),
        }
        PendingReply::new(exchange)
    }

    /// The lane takes requests from the queue from now on.
    pub fn admit_lane(&self, lane: &Rc<Lane>) {
        lane.end_trial();
        if lane.state() == LaneState::Open {
            self.lane_opened(lane);
        }
    }

    /// The worker on trial is gone: no other worker answers in its place.
    pub(crate) fn fail_trial(lane: &Lane) {
        if let Some(exchange) = lane.take_first() {
            exchange.settle(Err(Refusal::WorkerLost));
        }
        for request in lane.take_in_flight() {
            if let RequestStage::Waiting(exchange) = request.stage {
                exchange.settle(Err(Refusal::WorkerLost));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};
    use std::time::Instant;

    use super::*;
    use crate::fixture::{Fixture, locally};

    #[test]
    fn a_lane_on_trial_gets_its_own_requests_and_no_others() {
        locally(|| {
            let fixture = Fixture::new(&[]);
            let lane = Lane::unshared(1, 1);
            lane.begin_trial();
            fixture.dispatcher.lane_opened(&lane);
            let queued = fixture.dispatch("GET", "/queued");
            let checked = fixture.dispatcher.try_on(&lane, Call::plain("GET", "/up"));
            assert_eq!(lane.in_flight().len(), 1);
            assert_eq!(fixture.queue(), ["/queued"]);
            lane.release(1, Instant::now());
            fixture.dispatcher.admit_lane(&lane);
            assert_eq!((lane.in_flight().len(), fixture.queue().len()), (1, 0));
            drop((queued, checked));
        });
    }

    #[test]
    fn a_check_waits_until_its_lane_is_open() {
        locally(|| {
            let fixture = Fixture::new(&[]);
            let lane = Lane::unshared(1, 1);
            lane.set_state(LaneState::Opening);
            lane.begin_trial();
            let checked = fixture.dispatcher.try_on(&lane, Call::plain("GET", "/up"));
            assert_eq!(lane.in_flight().len(), 0);
            lane.set_state(LaneState::Open);
            fixture.dispatcher.lane_opened(&lane);
            assert_eq!(lane.in_flight().len(), 1);
            drop(checked);
        });
    }

    #[test]
    fn a_check_is_not_repeated_by_another_worker() {
        locally(|| {
            let fixture = Fixture::new(&[1]);
            let lane = Lane::unshared(2, 1);
            lane.begin_trial();
            fixture.dispatcher.lane_opened(&lane);
            let checked = fixture.dispatcher.try_on(&lane, Call::plain("GET", "/up"));
            fixture.dispatcher.lane_lost(&lane, None);
            let outcome = pin!(checked).poll(&mut Context::from_waker(Waker::noop()));
            assert!(matches!(outcome, Poll::Ready(Err(Refusal::WorkerLost))));
            assert_eq!(fixture.load(), [0]);
        });
    }
}
