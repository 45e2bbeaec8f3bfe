use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_wire::stream::encode_abort;

use crate::dispatcher::Dispatcher;
use crate::lanes::{Exchange, Lane, LaneEvent, LaneState, LoggedRequest, RequestStage};
use carat_exchange::{Refusal, clock};

/// Requests that wait or run too long.
impl Dispatcher {
    /// Enforces the timeouts of requests. Called once a tick.
    pub fn tick(&self) {
        self.end_hold(clock::now());
        self.expire_reload(clock::now());
        self.expire_waiting();
        self.rebalance(clock::now());
        // Of what a worker has begun without a response, nobody else tells.
        self.hand_out(clock::now());
        self.expire_running();
        self.expire_tunnels(clock::now());
        let refused = self.refused.take();
        if refused > 0 {
            self.log.warn(
                "queue full",
                &[
                    ("refused", &refused),
                    ("queue_limit", &self.settings().queue_limit),
                ],
            );
        }
    }

    /// The server stood still until now.
    pub fn note_pause(&self, now: Instant, duration: Duration) {
        self.pauses.add(now, duration);
    }

    fn expire_waiting(&self) {
        if self.is_held() {
            return;
        }
        let now = clock::now();
        let limit = self.pauses.extend(self.settings().queue_timeout, now);
        let limit = self.hold.extend(limit, now);
        let limit = self.extend_by_reloads(limit, now);
        let mut expired = Vec::new();
        let mut queue = self.queue.borrow_mut();
        // Their bodies may be files, and too many may be open.
        queue.retain(|exchange| !exchange.is_cancelled());
        while queue.front().is_some_and(|front| front.waited(now) > limit) {
            expired.extend(queue.pop_front());
        }
        drop(queue);
        for exchange in expired {
            self.log.warn(
                "request waited too long",
                &[("request", &LoggedRequest(&exchange))],
            );
            exchange.settle(Err(Refusal::QueueTimeout));
        }
    }

    fn expire_running(&self) {
        let Some(limit) = self.settings().request_timeout else {
            return;
        };
        let now = clock::now();
        let limit = self.pauses.extend(limit, now);
        let lanes = self.lanes.borrow().clone();
        for lane in lanes {
            let overdue = lane.overdue(now, limit);
            let is_stuck = overdue.is_empty() && lane.is_stuck(now, limit);
            if is_stuck {
                self.log
                    .error("lane begins no request", &[("lane", &lane.tag)]);
            }
            if is_stuck || !overdue.is_empty() {
                self.give_up(&lane, &overdue, now);
                // The stack of one request is enough.
                let request = overdue.first().copied().unwrap_or_else(|| lane.begun());
                self.events.send(LaneEvent::Stuck {
                    tag: lane.tag,
                    request,
                });
            }
        }
    }

    /// Refuses requests that the application did not begin to reply to in time, and drains the lane,
    /// whose worker is to be replaced. Requests that it has not begun are recalled; others may
    /// finish.
    fn give_up(&self, lane: &Rc<Lane>, overdue: &[u32], now: Instant) {
        self.forget_idle(lane);
        lane.set_state(LaneState::Draining);
        for id in overdue {
            let stage = lane.release(*id, now).map(|request| request.stage);
            if let Some(RequestStage::Waiting(exchange)) = stage {
                self.report("request timed out", lane, &exchange);
                self.note_outcome(lane, exchange.waited(now), true);
                exchange.settle(Err(Refusal::AppTimeout));
            }
        }
        self.recall(lane);
    }

    /// Refuses every pending request: the server stops. Only a client whose request was never begun is
    /// invited to repeat it. Requests that arrive from now on are refused, too.
    pub fn give_up_all(&self) {
        self.is_over.set(true);
        self.close_tunnels();
        for exchange in self.queue.take() {
            self.cut_off(&exchange, Refusal::Stopping);
        }
        for lane in self.lanes.take() {
            // Without the page, nobody knows what was begun.
            for exchange in lane.recall().unwrap_or_default() {
                self.cut_off(&exchange, Refusal::Stopping);
            }
            for request in lane.take_in_flight() {
                match request.stage {
                    RequestStage::Waiting(exchange) => self.cut_off(&exchange, Refusal::CutOff),
                    RequestStage::Streaming(sender, _) => {
                        sender.abort();
                        lane.push(|out| encode_abort(out, request.id));
                    }
                    RequestStage::TakenOver => {}
                }
            }
        }
    }

    fn cut_off(&self, exchange: &Exchange, refusal: Refusal) {
        self.log.warn(
            "request cut off by the stop",
            &[("request", &LoggedRequest(exchange))],
        );
        exchange.settle(Err(refusal));
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::PendingReply;
    use crate::fixture::{Fixture, locally};
    use carat_exchange::{Call, Reply};

    fn outcome(pending: PendingReply) -> Poll<Result<Reply, Refusal>> {
        pin!(pending).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn only_the_request_that_takes_too_long_is_refused() {
        locally(|| {
            let mut fixture = Fixture::new(&[256]);
            let mut pending: Vec<_> = ["/1", "/2", "/3", "/4"]
                .iter()
                .map(|path| fixture.dispatch("POST", path))
                .collect();
            let lane = Rc::clone(&fixture.lanes[0]);
            lane.worker_begins(3);
            fixture.dispatcher.give_up(&lane, &[2], Instant::now());

            assert!(matches!(
                outcome(pending.remove(1)),
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
    fn the_stop_invites_only_those_to_repeat_whose_request_was_not_begun() {
        locally(|| {
            let fixture = Fixture::new(&[100]);
            let pending: Vec<_> = (0..101).map(|_| fixture.dispatch("POST", "/")).collect();
            fixture.lanes[0].worker_begins(40);
            fixture.dispatcher.give_up_all();
            let mut begun = 0;
            for reply in pending {
                match outcome(reply) {
                    Poll::Ready(Err(Refusal::CutOff)) => begun += 1,
                    Poll::Ready(Err(Refusal::Stopping)) => {}
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(begun, 40);
            assert!(!fixture.lanes[0].worker_begins(41));
        });
    }

    #[test]
    fn a_request_that_arrives_after_the_stop_cut_off_all_others_is_refused() {
        locally(|| {
            let fixture = Fixture::new(&[1]);
            fixture.dispatcher.give_up_all();
            let late = fixture.dispatcher.dispatch(Call::plain("POST", "/"));
            assert_eq!(late.err(), Some(Refusal::Stopping));
            assert!(fixture.lanes[0].is_empty());
        });
    }
}
