use std::rc::Rc;
use std::time::Instant;

use crate::dispatcher::Dispatcher;
use crate::lanes::{Lane, LaneEvent, LaneState, RequestStage, report_request};
use carat_exchange::Refusal;

/// The timeouts of requests.
impl Dispatcher {
    /// Refuses requests that have waited for too long.
    pub(super) fn expire_waiting(&self, now: Instant) {
        if !self.is_held() {
            let mut limit = self.timeouts.queue_timeout(now);
            for hold in [&self.hold, &self.downtime, &self.renewal.hold] {
                limit = hold.extend(limit, now);
            }
            self.queue.expire(limit, now, &self.log);
        }
    }

    /// Gives up the requests that have run for too long, and the lanes whose threads begin no request.
    pub(super) fn expire_running(&self, now: Instant) {
        let Some(limit) = self.timeouts.request_timeout(now) else {
            return;
        };
        for lane in self.lanes.list() {
            let overdue = lane.overdue(now, limit);
            let is_stuck = overdue.is_empty() && lane.is_stuck(now, limit);
            if is_stuck {
                self.log
                    .error("lane begins no request", &[("lane", &lane.tag)]);
            }
            if is_stuck || !overdue.is_empty() {
                self.give_up(&lane, &overdue, now);
                // The supervisor has the worker log its stacks. That is done for one request, which is enough.
                let request = overdue.first().copied().unwrap_or_else(|| lane.begun());
                let tag = lane.tag;
                self.events.send(LaneEvent::Stuck { tag, request });
            }
        }
    }

    /// Refuses the `overdue` requests, and drains the lane, because its worker is to be replaced. Requests that the
    /// worker has not begun are recalled; the other requests may finish.
    pub(super) fn give_up(&self, lane: &Rc<Lane>, overdue: &[u32], now: Instant) {
        self.lanes.forget_idle(lane);
        lane.set_state(LaneState::Draining);
        for id in overdue {
            let stage = lane.release(*id, now).map(|request| request.stage);
            if let Some(RequestStage::Waiting(exchange)) = stage {
                report_request("request timed out", lane, &exchange, &self.log);
                exchange.settle(Err(Refusal::AppTimeout));
            }
        }
        self.recall(lane);
        self.advance_rests(now);
    }
}
