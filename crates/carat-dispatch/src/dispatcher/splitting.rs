//! How requests are divided while a restart waits between old code and new. At any other time there is one code, and
//! every lane may take every request.

use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_policy::CanaryRule;
use http::HeaderMap;

use crate::canary::{Canary, CanaryReport, Code};
use crate::dispatcher::Dispatcher;
use crate::lanes::{Exchange, Lane, LaneState};

impl Dispatcher {
    /// From now on, workers of this generation get the share of the rule, and those of older ones the rest.
    pub fn begin_canary(&self, generation: u32, rule: CanaryRule) {
        let canary = Canary::new(generation, rule);
        self.canary.replace(Some(Rc::new(canary)));
    }

    /// All workers get all requests again.
    pub fn end_canary(&self, now: Instant) {
        if self.canary.take().is_some() {
            self.hand_out(now);
        }
    }

    /// What the requests came to, if a restart waits.
    pub fn canary_report(&self) -> Option<CanaryReport> {
        let canary = self.canary.borrow();
        canary.as_ref().map(|canary| canary.report())
    }

    /// Chooses the code for a new request.
    pub(crate) fn assign(&self, exchange: &Exchange) {
        if let Some(canary) = self.canary.borrow().as_ref() {
            let choice = canary.choose(&exchange.call.parts.headers);
            exchange.code.set(choice.code);
            exchange.is_first.set(choice.is_first);
        }
    }

    /// Whether a request would crowd others out if it waited for new code: then the old code serves it.
    pub(crate) fn gives_way(&self, exchange: &Exchange) -> bool {
        let part = match self.canary.borrow().as_ref() {
            Some(canary) => canary.queue_part(self.settings().queue_limit),
            None => return false,
        };
        if exchange.code.get() == Code::Old {
            return false;
        }
        let queue = self.queue.borrow();
        let same = queue.iter().filter(|it| it.code.get() == Code::New);
        let gives_way = same.count() >= part;
        if gives_way {
            exchange.code.set(Code::Old);
        }
        gives_way
    }

    /// Whether requests wait for this code; `None` is for any.
    pub(crate) fn is_anyone_waiting(&self, code: Option<Code>) -> bool {
        let queue = self.queue.borrow();
        if queue.is_empty() || self.canary.borrow().is_none() {
            return !queue.is_empty();
        }
        let mut waiting = queue.iter().filter(|it| !it.is_cancelled());
        waiting.any(|it| code.is_none_or(|code| it.code.get() == code))
    }

    /// The code that a lane's worker runs, if there are two.
    pub(crate) fn code_of(&self, lane: &Lane) -> Option<Code> {
        let canary = self.canary.borrow();
        Some(canary.as_ref()?.code_of(lane.generation()))
    }

    /// The code that serves a request, if there are two: that of its own, unless no worker runs it.
    pub(crate) fn code_for(&self, exchange: &Exchange) -> Option<Code> {
        self.canary.borrow().as_ref()?;
        let code = exchange.code.get();
        self.has_workers(code).then_some(code)
    }

    fn has_workers(&self, code: Code) -> bool {
        let lanes = self.lanes.borrow();
        let mut open = lanes.iter().filter(|it| it.state() == LaneState::Open);
        open.any(|lane| self.code_of(lane) == Some(code))
    }

    /// Whether a lane may take a request for this code; `None` is for any.
    pub(crate) fn runs(&self, lane: &Lane, code: Option<Code>) -> bool {
        code.is_none() || self.code_of(lane) == code
    }

    /// The codes for which requests wait separately.
    pub(crate) fn codes(&self) -> &'static [Option<Code>] {
        if self.canary.borrow().is_some() {
            &[Some(Code::Old), Some(Code::New)]
        } else {
            &[None]
        }
    }

    /// Where the next request for a lane is in the queue.
    pub(crate) fn next_index(&self, lane: &Lane) -> Option<usize> {
        let code = self.code_of(lane);
        let has_both = [Code::Old, Code::New].map(|code| self.has_workers(code));
        let queue = self.queue.borrow();
        let mut waiting = queue.iter();
        waiting.position(|exchange| {
            let own = exchange.code.get();
            let is_meant = code == Some(own) || !has_both[own as usize];
            is_meant && !exchange.is_cancelled()
        })
    }

    /// A worker was done with a request, or failed to be.
    pub(crate) fn note_outcome(&self, lane: &Lane, took: Duration, is_error: bool) {
        if let Some(canary) = self.canary.borrow().as_ref() {
            canary.note(canary.code_of(lane.generation()), took, is_error);
        }
    }

    /// Adds the cookie of a new client to its first response.
    pub(crate) fn mark(&self, exchange: &Exchange, headers: &mut HeaderMap) {
        if let Some(canary) = self.canary.borrow().as_ref() {
            if exchange.is_first.get() {
                canary.mark(headers, exchange.code.get());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use carat_policy::CanaryUnit;

    use super::*;
    use crate::fixture::{Fixture, locally};

    fn rule(percent: u8) -> CanaryRule {
        let unit = CanaryUnit::Request;
        CanaryRule { percent, unit }
    }

    /// Lanes of these capacities; the last one is of generation 2, the new code.
    fn canary(percent: u8, capacities: &[u16]) -> Fixture {
        let fixture = Fixture::new(capacities);
        let new = fixture.lanes.last().expect("a lane");
        new.set_generation(2);
        fixture.dispatcher.begin_canary(2, rule(percent));
        fixture
    }

    #[test]
    fn each_code_gets_its_share_whichever_lanes_are_idle() {
        locally(|| {
            let fixture = canary(25, &[256, 256, 256]);
            let pending: Vec<_> = (0..40).map(|_| fixture.dispatch("GET", "/")).collect();
            assert_eq!(fixture.load()[2], 10);
            assert_eq!(pending.len(), 40);
        });
    }

    #[test]
    fn a_request_waits_for_its_own_code() {
        locally(|| {
            let fixture = canary(50, &[1, 1]);
            let paths = ["/old", "/new", "/old2", "/new2"];
            let pending = paths.map(|path| {
                fixture
                    .dispatcher
                    .dispatch(carat_exchange::Call::plain("GET", path))
            });
            assert_eq!((fixture.load(), fixture.queue().len()), (vec![1, 1], 1));
            assert_eq!(fixture.queue(), ["/old2"]);
            assert!(pending[3].is_err(), "the queue is full");
            fixture.lanes[1].release(1, Instant::now());
            fixture.dispatcher.refill(&fixture.lanes[1], Instant::now());
            assert_eq!(fixture.queue(), ["/old2"]);
            fixture.lanes[0].release(1, Instant::now());
            fixture.dispatcher.refill(&fixture.lanes[0], Instant::now());
            assert_eq!((fixture.load(), fixture.queue().len()), (vec![1, 0], 0));
        });
    }

    #[test]
    fn without_a_worker_of_its_code_the_other_one_serves() {
        locally(|| {
            let fixture = canary(99, &[256, 256]);
            let before: Vec<_> = (0..10).map(|_| fixture.dispatch("GET", "/")).collect();
            assert_eq!(fixture.load(), [1, 9]);
            fixture.dispatcher.lane_lost(&fixture.lanes[1], None);
            assert_eq!(fixture.load(), [10, 0]);
            let after: Vec<_> = (0..10).map(|_| fixture.dispatch("GET", "/")).collect();
            assert_eq!(fixture.load(), [20, 0]);
            drop((before, after));
        });
    }

    #[test]
    fn who_waits_for_new_code_does_not_fill_the_queue() {
        locally(|| {
            let fixture = canary(99, &[256, 1]);
            let pending: Vec<_> = (0..50).map(|_| fixture.dispatch("GET", "/")).collect();
            assert_eq!((fixture.load(), fixture.queue().len()), (vec![48, 1], 1));
            drop(pending);
        });
    }

    #[test]
    fn when_it_is_over_every_lane_takes_every_request() {
        locally(|| {
            let fixture = canary(50, &[1, 1]);
            let paths = ["/old", "/new", "/old2"];
            let pending = paths.map(|path| fixture.dispatch("GET", path));
            fixture.lanes[1].release(1, Instant::now());
            fixture.dispatcher.refill(&fixture.lanes[1], Instant::now());
            assert_eq!((fixture.load(), fixture.queue().len()), (vec![1, 0], 1));
            fixture.dispatcher.end_canary(Instant::now());
            assert_eq!((fixture.load(), fixture.queue().len()), (vec![1, 1], 0));
            assert_eq!(fixture.dispatcher.canary_report(), None);
            drop(pending);
        });
    }

    #[test]
    fn requests_lost_with_a_worker_are_errors_of_its_code() {
        locally(|| {
            let fixture = canary(50, &[256, 256]);
            let pending: Vec<_> = (0..4).map(|_| fixture.dispatch("POST", "/")).collect();
            fixture.lanes[1].worker_begins(2);
            fixture.dispatcher.lane_lost(&fixture.lanes[1], None);
            let report = fixture.dispatcher.canary_report().expect("a canary");
            assert_eq!((report.old.errors, report.new.errors), (0, 2));
            drop(pending);
        });
    }
}
