use std::io;
use std::rc::Rc;

use carat_wire::is_behind;

use crate::dispatcher::Dispatcher;
use crate::lanes::{Exchange, InFlightRequest, Lane, LaneEvent, RequestStage};
use carat_exchange::{Refusal, clock};

/// Requests of a worker that died.
impl Dispatcher {
    /// The worker closed the lane, or died: requests that it had not begun return to the queue.
    pub(crate) fn lane_lost(&self, lane: &Rc<Lane>, broken: Option<io::Error>) {
        self.close(lane);
        if let Some(error) = broken {
            self.log
                .error("lane broken", &[("lane", &lane.tag), ("cause", &error)]);
        }
        self.fail_over(lane);
        self.events.send(LaneEvent::Lost(lane.tag));
    }

    /// Settles or requeues the requests of a lane.
    fn fail_over(&self, lane: &Lane) {
        if lane.is_on_trial() {
            return Dispatcher::fail_trial(lane);
        }
        let begun = lane.begun();
        let not_begun = |id| is_behind(id, begun);
        let mut back = Vec::new();
        for InFlightRequest { id, stage, .. } in lane.take_in_flight() {
            match stage {
                RequestStage::Streaming(sender, _) => sender.abort(),
                RequestStage::TakenOver => {}
                RequestStage::Waiting(exchange)
                    if exchange.is_cancelled() || exchange.is_settled() => {}
                RequestStage::Waiting(exchange) => {
                    let may_repeat =
                        || exchange.call.may_repeat() && !exchange.retried.replace(true);
                    if not_begun(id) || may_repeat() {
                        back.push(exchange);
                    } else {
                        self.report("request lost with its worker", lane, &exchange);
                        let took = exchange.waited(clock::now());
                        self.note_outcome(lane, took, true);
                        exchange.settle(Err(Refusal::WorkerLost));
                    }
                }
            }
        }
        self.requeue(back);
    }

    /// Returns requests to the front of the queue in their order, and then to lanes with room.
    pub(crate) fn requeue(&self, back: Vec<Rc<Exchange>>) {
        for exchange in back.into_iter().rev() {
            self.queue.borrow_mut().push_front(exchange);
        }
        self.hand_out(clock::now());
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::PendingReply;
    use crate::fixture::{Fixture, locally};
    use carat_exchange::Reply;

    fn outcome(pending: PendingReply) -> Poll<Result<Reply, Refusal>> {
        pin!(pending).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn requests_that_may_be_repeated_return_to_the_queue_in_order() {
        locally(|| {
            let fixture = Fixture::new(&[256]);
            let methods = ["GET", "POST", "HEAD", "PUT", "OPTIONS", "POST", "GET"];
            let paths = ["/1", "/2", "/3", "/4", "/5", "/6", "/7"];
            let mut pending: Vec<_> = methods
                .iter()
                .zip(paths)
                .map(|(method, path)| fixture.dispatch(method, path))
                .collect();
            fixture.lanes[0].worker_begins(5);
            fixture.dispatcher.lane_lost(&fixture.lanes[0], None);

            assert_eq!(fixture.queue(), ["/1", "/3", "/5", "/6", "/7"]);
            for index in [3, 1] {
                assert!(matches!(
                    outcome(pending.remove(index)),
                    Poll::Ready(Err(Refusal::WorkerLost))
                ));
            }
            assert!(pending.into_iter().all(|reply| outcome(reply).is_pending()));
        });
    }

    #[test]
    fn what_has_begun_twice_is_not_pending_a_third_time() {
        locally(|| {
            let fixture = Fixture::new(&[256, 256]);
            let pending = fixture.dispatch("GET", "/");
            for lane in fixture.lanes.iter().rev() {
                assert_eq!(lane.in_flight().len(), 1);
                lane.worker_begins(1);
                fixture.dispatcher.lane_lost(lane, None);
            }
            assert!(matches!(
                outcome(pending),
                Poll::Ready(Err(Refusal::WorkerLost))
            ));
        });
    }
}
