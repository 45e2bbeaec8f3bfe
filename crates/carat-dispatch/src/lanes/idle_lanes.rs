use std::cell::RefCell;
use std::rc::Rc;

use crate::lanes::lane::Lane;
use carat_log::WorkerId;

/// Lanes without a request, the most recently used last.
#[derive(Debug, Default)]
pub(crate) struct IdleLanes(RefCell<Vec<Rc<Lane>>>);

impl IdleLanes {
    /// Removes and returns an idle lane of the worker with the fewest requests, because the threads of a worker share
    /// its GVL. Among equal workers the most recently used lane is taken, so that workers that are not needed get no
    /// request. A lane whose thread lingers is taken last.
    pub(crate) fn take(&self) -> Option<Rc<Lane>> {
        let mut lanes = self.0.borrow_mut();
        let last = lanes.last()?;
        if last.in_flight().worker_requests() == 0 && !last.is_lingering() {
            return lanes.pop();
        }
        let newest_first = lanes.iter().enumerate().rev();
        let (index, _) = newest_first
            .min_by_key(|(_, lane)| (lane.is_lingering(), lane.in_flight().worker_requests()))?;
        Some(lanes.remove(index))
    }

    /// Adds a lane, unless it is there.
    pub(crate) fn add(&self, lane: &Rc<Lane>) {
        let mut lanes = self.0.borrow_mut();
        if !lanes.iter().any(|known| Rc::ptr_eq(known, lane)) {
            lanes.push(Rc::clone(lane));
        }
    }

    pub(crate) fn forget(&self, lane: &Rc<Lane>) {
        self.0.borrow_mut().retain(|known| !Rc::ptr_eq(known, lane));
    }

    pub(crate) fn forget_worker(&self, worker: WorkerId) {
        self.0.borrow_mut().retain(|lane| lane.tag.worker != worker);
    }

    /// Whether there is an idle lane whose thread does not linger.
    pub(crate) fn has_ready(&self) -> bool {
        self.0.borrow().iter().any(|lane| !lane.is_lingering())
    }
}

#[cfg(any(test, feature = "fixture"))]
impl IdleLanes {
    /// How many lanes count as idle although they hold a request or take none.
    pub(crate) fn count_wrong(&self) -> usize {
        let lanes = self.0.borrow();
        lanes.iter().filter(|lane| !lane.is_free()).count()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::fixture::{Fixture, locally};
    use crate::lanes::PREFETCH_WAIT;
    use carat_exchange::clock;

    /// How many requests each worker holds.
    fn loads(workers: &[Vec<Rc<Lane>>]) -> Vec<usize> {
        workers
            .iter()
            .map(|lanes| lanes[0].in_flight().worker_requests())
            .collect()
    }

    #[test]
    fn requests_at_once_go_to_as_many_workers_as_there_are() {
        locally(|| {
            let (fixture, workers) = Fixture::with_threads(4, 5);
            let mut pending = Vec::new();
            for expected in [4, 8, 20] {
                pending.extend((pending.len()..expected).map(|_| fixture.dispatch("GET", "/")));
                assert_eq!(loads(&workers), [expected / 4; 4]);
            }
        });
    }

    #[test]
    fn quick_requests_at_once_stay_with_one_worker_unless_the_first_is_slow() {
        locally(|| {
            tokio::time::pause();
            let (fixture, workers) = Fixture::with_threads(3, 1);
            for lane in workers.iter().flatten() {
                lane.note_service_time(Duration::from_micros(10));
            }
            let mut pending: Vec<_> = (0..6).map(|_| fixture.dispatch("GET", "/")).collect();
            let first = loads(&workers);
            assert_eq!(first.iter().max(), Some(&6), "{first:?}");
            pending.extend((0..6).map(|_| fixture.dispatch("GET", "/")));
            let both = loads(&workers);
            let found = both.iter().filter(|load| **load == 0).count();
            assert_eq!(found, 1, "{both:?}");

            let now = clock::now() + PREFETCH_WAIT * 2;
            for lane in workers.iter().flatten() {
                lane.worker_begins(1);
            }
            fixture.dispatcher.rebalance(now);
            let after = loads(&workers);
            assert!(after.iter().all(|load| *load > 0), "{after:?}");
        });
    }

    #[test]
    fn one_request_after_the_other_goes_to_the_same_worker() {
        locally(|| {
            let (fixture, workers) = Fixture::with_threads(4, 5);
            let mut used = Vec::new();
            for _ in 0..6 {
                let pending = fixture.dispatch("GET", "/");
                used.push(loads(&workers));
                let lanes = workers.iter().flatten();
                let lane = lanes.clone().find(|lane| !lane.is_empty()).expect("one");
                fixture.reply(lane);
                drop(pending);
            }
            assert!(used.windows(2).all(|pair| pair[0] == pair[1]), "{used:?}");
            assert_eq!(loads(&workers), [0; 4]);
        });
    }

    #[test]
    fn a_worker_whose_requests_are_taken_back_has_none() {
        locally(|| {
            let (fixture, workers) = Fixture::with_threads(1, 2);
            let pending = [fixture.dispatch("GET", "/"), fixture.dispatch("GET", "/")];
            assert_eq!(loads(&workers), [2]);
            for lane in &workers[0] {
                assert_eq!(lane.take_in_flight().count(), 1);
            }
            assert_eq!(loads(&workers), [0]);
            drop(pending);
        });
    }

    #[test]
    fn a_thread_that_goes_on_after_its_response_is_used_last() {
        locally(|| {
            let (fixture, workers) = Fixture::with_threads(1, 3);
            let [first, second, third] = [0, 1, 2].map(|index| &workers[0][index]);
            third.worker_lingers(true);
            second.worker_lingers(true);
            let mut pending = vec![fixture.dispatch("GET", "/")];
            assert!(!first.is_empty() && !fixture.dispatcher.lanes.has_idle());
            second.worker_lingers(false);
            assert!(fixture.dispatcher.lanes.has_idle());
            pending.push(fixture.dispatch("GET", "/"));
            assert!(!second.is_empty() && third.is_empty());
            pending.push(fixture.dispatch("GET", "/"));
            assert_eq!((fixture.load(), pending.len()), (vec![1, 1, 1], 3));
        });
    }
}
