use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use carat_exchange::clock;
use carat_log::{LaneTag, WorkerId};

use crate::lanes::{IdleLanes, Lane, LaneEvent, LaneEvents, LaneState, RunningRequest};
use crate::queue::RequestTimeouts;

/// The lanes of all workers, and which of them gets the next request.
#[derive(Debug, Default)]
pub(crate) struct LaneChoice {
    /// The lanes in the order in which they opened.
    lanes: RefCell<Vec<Rc<Lane>>>,
    idle: IdleLanes,
    /// The lane that got a request last.
    newest: RefCell<Option<Rc<Lane>>>,
}

impl LaneChoice {
    /// How many requests the workers have begun, or are about to.
    pub(crate) fn running(&self) -> usize {
        let lanes = self.lanes.borrow();
        lanes.iter().map(|lane| lane.in_flight().len()).sum()
    }

    /// The oldest requests that the workers have begun, at most `limit`, and how many more there are. The other
    /// requests are only counted, because a description copies the target, which may be long.
    pub(crate) fn running_requests(
        &self,
        now: Instant,
        limit: usize,
    ) -> (Vec<RunningRequest>, usize) {
        let lanes = self.lanes.borrow();
        let mut begun = Vec::new();
        for lane in lanes.iter() {
            begun.extend(lane.begun_requests().into_iter().map(|it| (it, lane)));
        }
        begun.sort_by_key(|((since, _), _)| *since);
        let omitted = begun.len().saturating_sub(limit);
        begun.truncate(limit);
        let requests = begun.into_iter();
        let requests = requests.filter_map(|((_, id), lane)| lane.running_request(id, now));
        (requests.collect(), omitted)
    }

    /// Describes a request that a worker has.
    pub(crate) fn running_request(
        &self,
        tag: LaneTag,
        id: u32,
        now: Instant,
    ) -> Option<RunningRequest> {
        let lanes = self.lanes.borrow();
        let lane = lanes.iter().find(|lane| lane.tag == tag)?;
        lane.running_request(id, now)
    }

    /// Reports each request for which `slow_request` has expired, once.
    pub(crate) fn note_slow(&self, timeouts: &RequestTimeouts, events: &LaneEvents) {
        let now = clock::now();
        let Some(limit) = timeouts.slow_request(now) else {
            return;
        };
        for lane in self.lanes.borrow().iter() {
            for request in lane.newly_slow(now, limit) {
                let tag = lane.tag;
                events.send(LaneEvent::Slow { tag, request });
            }
        }
    }

    /// How many requests this worker has.
    pub(crate) fn running_on(&self, worker: WorkerId) -> usize {
        let lanes = self.of_worker(worker);
        lanes.iter().map(|lane| lane.in_flight().len()).sum()
    }

    /// How many tunnels this worker has.
    pub(crate) fn tunnels_on(&self, worker: WorkerId) -> usize {
        let lanes = self.lanes.borrow();
        let lane = lanes.iter().find(|lane| lane.tag.worker == worker);
        lane.map_or(0, |lane| lane.tunnels.count())
    }

    /// Whether a worker holds no request and no tunnel.
    pub(crate) fn is_drained(&self, worker: WorkerId) -> bool {
        let lanes = self.of_worker(worker);
        let is_free = |lane: &Rc<Lane>| lane.is_empty() && lane.tunnels.count() == 0;
        lanes.iter().all(is_free)
    }

    pub(crate) fn of_worker(&self, worker: WorkerId) -> Vec<Rc<Lane>> {
        let lanes = self.lanes.borrow();
        let own = lanes.iter().filter(|lane| lane.tag.worker == worker);
        own.cloned().collect()
    }

    /// All lanes, also while some of them close.
    pub(crate) fn list(&self) -> Vec<Rc<Lane>> {
        self.lanes.borrow().clone()
    }

    /// Whether there are several lanes, and one of them serves several requests concurrently.
    pub(crate) fn has_several_concurrent(&self) -> bool {
        self.lanes.borrow().len() > 1 && self.any(Lane::is_concurrent)
    }

    /// Whether `is_so` holds for a lane.
    pub(crate) fn any(&self, is_so: impl Fn(&Lane) -> bool) -> bool {
        self.lanes.borrow().iter().any(|lane| is_so(lane))
    }

    /// How many requests the workers that rest serve at once.
    pub(crate) fn resting_slots(&self) -> usize {
        let lanes = self.lanes.borrow();
        let resting = lanes.iter().filter(|it| it.state() == LaneState::Resting);
        resting.map(|lane| usize::from(lane.capacity.get())).sum()
    }

    /// How many more requests the workers would begin at once.
    pub(crate) fn free_slots(&self) -> usize {
        let lanes = self.lanes.borrow();
        lanes.iter().map(|lane| lane.free_slots()).sum()
    }

    /// Adds a lane that takes requests.
    pub(crate) fn add(&self, lane: &Rc<Lane>) {
        self.lanes.borrow_mut().push(Rc::clone(lane));
    }

    /// Removes a closed lane.
    pub(crate) fn remove(&self, lane: &Rc<Lane>) {
        self.lanes
            .borrow_mut()
            .retain(|known| !Rc::ptr_eq(known, lane));
        let mut newest = self.newest.borrow_mut();
        newest.take_if(|newest| Rc::ptr_eq(newest, lane));
        drop(newest);
        self.idle.forget(lane);
    }

    /// Removes every lane.
    pub(crate) fn take_all(&self) -> Vec<Rc<Lane>> {
        self.lanes.take()
    }

    /// Adds a lane to the idle ones.
    pub(crate) fn note_idle(&self, lane: &Rc<Lane>) {
        self.idle.add(lane);
    }

    /// Removes a lane from the idle ones.
    pub(crate) fn forget_idle(&self, lane: &Rc<Lane>) {
        self.idle.forget(lane);
    }

    /// Removes the lanes of this worker from the idle ones.
    pub(crate) fn forget_idle_of(&self, worker: WorkerId) {
        self.idle.forget_worker(worker);
    }

    /// A lane gets a request.
    pub(crate) fn note_used(&self, lane: &Rc<Lane>) {
        self.newest.replace(Some(Rc::clone(lane)));
    }

    /// Whether a lane is idle, and would begin a request at once.
    pub(crate) fn has_idle(&self) -> bool {
        self.idle.has_ready()
    }

    /// The lane for the next request: the lane that was used last, if it begins the request sooner than an idle lane
    /// would. Otherwise an idle lane of the worker with the fewest requests; if no lane is idle, the lane with the
    /// fewest requests that has room.
    pub(crate) fn choose(&self, now: Instant) -> Option<Rc<Lane>> {
        self.gathering(now)
            .or_else(|| self.idle.take())
            .or_else(|| self.with_room(now))
    }

    fn gathering(&self, now: Instant) -> Option<Rc<Lane>> {
        let newest = self.newest.borrow();
        newest.as_ref().filter(|lane| lane.gathers(now)).cloned()
    }

    fn with_room(&self, now: Instant) -> Option<Rc<Lane>> {
        let lanes = self.lanes.borrow();
        let with_room = lanes.iter().filter(|lane| lane.has_room(now));
        with_room.min_by_key(|lane| lane.in_flight().len()).cloned()
    }
}

#[cfg(any(test, feature = "fixture"))]
impl LaneChoice {
    /// How many lanes count as idle although they hold a request or take none.
    pub(crate) fn count_wrongly_idle(&self) -> usize {
        self.idle.count_wrong()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::lanes::Exchange;
    use carat_exchange::Call;

    fn lanes() -> (LaneChoice, Rc<Lane>, Rc<Lane>) {
        let choice = LaneChoice::default();
        let [first, second] = [1, 2].map(|worker| Lane::unshared(worker, 4));
        for lane in [&first, &second] {
            choice.add(lane);
        }
        (choice, first, second)
    }

    #[test]
    fn an_idle_lane_comes_before_one_that_only_has_room() {
        let (choice, first, second) = lanes();
        let now = Instant::now();
        let chooses = |lane: &Rc<Lane>| choice.choose(now).is_some_and(|it| Rc::ptr_eq(&it, lane));
        choice.note_idle(&second);
        assert!(chooses(&second));
        assert!(!choice.has_idle());
        assert!(chooses(&first));
        choice.remove(&first);
        choice.remove(&second);
        assert!(choice.choose(now).is_none());
    }

    #[test]
    fn only_the_oldest_running_requests_are_described() {
        let (choice, first, second) = lanes();
        let now = Instant::now();
        for (lane, path, age) in [(&first, "/b", 1), (&second, "/a", 2), (&second, "/c", 0)] {
            let exchange = Rc::new(Exchange::new(Call::plain("GET", path)));
            let since = now + Duration::from_secs(2 - age);
            lane.begin(exchange, since).expect("encoded");
        }
        first.worker_begins(1);
        second.worker_begins(1);
        let described = |limit| {
            let (requests, omitted) = choice.running_requests(now, limit);
            let texts: Vec<_> = requests.into_iter().map(|it| it.text).collect();
            (texts.join(" "), omitted)
        };
        assert_eq!(described(1), ("GET /a".to_owned(), 1));
        // The worker has not begun the other request.
        assert_eq!(described(9), ("GET /a GET /b".to_owned(), 0));
    }
}
