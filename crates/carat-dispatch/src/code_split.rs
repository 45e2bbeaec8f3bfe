use std::cell::RefCell;
use std::time::Duration;

use carat_policy::{CanaryFinding, CanaryRule, WorkerCost};
use http::HeaderMap;

use crate::canary::{Canary, CanaryReport, Code, CodeChoice};
use crate::lanes::{Exchange, Lane};

/// How requests are divided between old code and new while a restart waits. At any other time there is one code, and
/// every lane may take every request.
#[derive(Debug, Default)]
pub struct CodeSplit(RefCell<Option<Canary>>);

impl CodeSplit {
    /// From now on, workers of this generation get the share of the rule, and those of older ones the rest.
    pub fn begin(&self, generation: u32, rule: CanaryRule) {
        self.0.replace(Some(Canary::new(generation, rule)));
    }

    /// All workers get all requests again. False if they did before.
    pub(crate) fn end(&self) -> bool {
        self.0.take().is_some()
    }

    /// Whether there are two.
    pub fn is_on(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// What the requests came to, if a restart waits.
    pub fn report(&self) -> Option<CanaryReport> {
        self.0.borrow().as_ref().map(Canary::report)
    }

    /// Chooses the code for a new request.
    pub(crate) fn assign(&self, exchange: &Exchange) {
        if let Some(canary) = self.0.borrow().as_ref() {
            let choice = canary.choose(&exchange.call.parts.headers);
            exchange.code.set(choice.code);
            exchange.is_first.set(choice.is_first);
        }
    }

    /// How many requests for the new code may wait, if there are two.
    pub(crate) fn queue_part(&self, queue_limit: usize) -> Option<usize> {
        let canary = self.0.borrow();
        Some(canary.as_ref()?.queue_part(queue_limit))
    }

    /// The code that a lane's worker runs, if there are two.
    pub(crate) fn code_of(&self, lane: &Lane) -> Option<Code> {
        let canary = self.0.borrow();
        Some(canary.as_ref()?.code_of(lane.generation()))
    }

    /// Whether a lane may take a request for this code; `None` is for any.
    pub(crate) fn runs(&self, lane: &Lane, code: Option<Code>) -> bool {
        code.is_none() || self.code_of(lane) == code
    }

    /// The codes for which requests wait separately.
    pub(crate) fn codes(&self) -> &'static [Option<Code>] {
        if self.is_on() {
            &[Some(Code::Old), Some(Code::New)]
        } else {
            &[None]
        }
    }

    /// A worker was done with a request, or failed to be.
    pub(crate) fn note_outcome(
        &self,
        lane: &Lane,
        exchange: &Exchange,
        took: Duration,
        is_error: bool,
    ) {
        if let Some(canary) = self.0.borrow().as_ref() {
            let code = canary.code_of(lane.generation());
            canary.note(code, took, is_error);
            if code == exchange.code.get() {
                let is_first = exchange.is_first.get();
                canary.judge_outcome(CodeChoice { code, is_first }, took, is_error);
            }
        }
    }

    /// What a comparison of both codes comes to, if one is due and decides.
    pub fn finding(&self) -> Option<CanaryFinding> {
        self.0.borrow().as_ref()?.judge()?.look()
    }

    /// Tells the judge what each worker has used so far, by the generation of its code.
    pub fn note_workers(&self, workers: &[(u32, WorkerCost)]) {
        if let Some(canary) = self.0.borrow().as_ref() {
            let is_new = |generation| canary.code_of(generation) == Code::New;
            let costs = workers.iter().map(|(of, cost)| (is_new(*of), *cost));
            if let Some(mut judge) = canary.judge() {
                judge.note_workers(&costs.collect::<Vec<_>>());
            }
        }
    }

    /// Adds the cookie of a new client to its first response.
    pub(crate) fn mark(&self, exchange: &Exchange, headers: &mut HeaderMap) {
        if let Some(canary) = self.0.borrow().as_ref() {
            if exchange.is_first.get() {
                canary.mark(headers, exchange.code.get());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::fixture::{Fixture, locally};

    fn rule(percent: u8) -> CanaryRule {
        CanaryRule {
            percent,
            ..CanaryRule::NONE
        }
    }

    /// Lanes of these capacities; the last one is of generation 2, the new code.
    fn canary(percent: u8, capacities: &[u16]) -> Fixture {
        let fixture = Fixture::new(capacities);
        let new = fixture.lanes.last().expect("a lane");
        new.set_generation(2);
        fixture.dispatcher.lanes.split.begin(2, rule(percent));
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
            assert_eq!(fixture.dispatcher.lanes.split.report(), None);
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
            let report = fixture.dispatcher.lanes.split.report().expect("a canary");
            assert_eq!((report.old.errors, report.new.errors), (0, 2));
            drop(pending);
        });
    }
}
