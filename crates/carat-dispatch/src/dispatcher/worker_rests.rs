use std::time::{Duration, Instant};

use carat_log::WorkerId;
use carat_policy::RestStep;
use carat_wire::{Collection, CollectionDue, FullReason};

use crate::dispatcher::Dispatcher;
use crate::lanes::{LaneEvent, LaneState};

/// The rests of the workers: changes the state of a worker's lanes when the worker or the supervisor reports on full
/// garbage collections.
#[derive(Clone, Copy)]
pub struct WorkerRests<'a>(&'a Dispatcher);

impl WorkerRests<'_> {
    /// The rests of the workers of this dispatcher.
    pub fn of(dispatcher: &Dispatcher) -> WorkerRests<'_> {
        WorkerRests(dispatcher)
    }

    /// Whether this worker has ever reported that a collection is due. A worker that never does manages its garbage
    /// collector itself.
    pub fn knows(self, worker: WorkerId) -> bool {
        self.0.resting.knows(worker)
    }

    /// The workers share so many processors.
    pub fn note_processors(self, processors: u32) {
        self.0.resting.note_processors(processors);
    }

    /// A worker says that a collection is due.
    pub(crate) fn due(self, worker: WorkerId, due: CollectionDue, now: Instant) {
        let reason = FullReason::of_byte(due.reason);
        self.0.resting.need(worker, reason, due.load, now);
        self.0.advance_rests(now);
    }

    /// Orders a rest for a worker that is over its memory limit: a collection may free enough memory that it need not
    /// be replaced.
    pub fn order(self, worker: WorkerId, now: Instant) {
        (self.0.resting).need(worker, FullReason::WorkerMemory, 0, now);
        self.0.advance_rests(now);
    }

    /// A request waited for collections.
    pub(crate) fn waited(self, worker: WorkerId, collection: Collection, now: Instant) {
        let mut lanes = self.0.lanes.list().into_iter();
        let is_alone = lanes.all(|lane| lane.tag.worker == worker);
        (self.0.resting).note_collection(worker, collection, is_alone);
        self.0.advance_rests(now);
    }

    /// A worker that was told to collect has done so.
    pub fn collected(self, worker: WorkerId, took: Duration, now: Instant) {
        self.0.resting.note_collected(worker, took);
        end(self.0, worker, now);
        self.0.advance_rests(now);
    }
}

impl Dispatcher {
    /// Takes every step of a rest that is due.
    pub(crate) fn advance_rests(&self, now: Instant) {
        while let Some(next) = (self.resting).next_step(&self.lanes, waiting(self), now) {
            let worker = next.worker;
            if next.is_silent {
                let message = "worker did not say that it has collected its garbage";
                self.log.warn(message, &[("worker", &worker)]);
            }
            match next.step {
                RestStep::Begin(_) => begin(self, worker),
                RestStep::Collect(_) => self.events.send(LaneEvent::Collect(worker)),
                RestStep::Decline(_) => self.events.send(LaneEvent::DeclineCollection(worker)),
                RestStep::End(_) => end(self, worker, now),
            }
        }
    }
}

/// Begins a rest: the worker gets no new request, and the requests that it has not begun go to other workers.
fn begin(dispatcher: &Dispatcher, worker: WorkerId) {
    dispatcher.lanes.forget_idle_of(worker);
    let own = dispatcher.lanes.of_worker(worker).into_iter();
    let open: Vec<_> = own.filter(|it| it.state() == LaneState::Open).collect();
    for lane in &open {
        lane.set_state(LaneState::Resting);
    }
    for lane in open.iter().filter(|lane| lane.is_ahead()) {
        dispatcher.recall(lane);
    }
}

/// Ends a rest: the worker takes requests again.
fn end(dispatcher: &Dispatcher, worker: WorkerId, now: Instant) {
    if !dispatcher.resting.end_rest(worker, now) {
        return;
    }
    let lanes = dispatcher.lanes.of_worker(worker);
    let slots = lanes.iter().map(|lane| usize::from(lane.capacity.get()));
    (dispatcher.resting).weigh_rest(waiting(dispatcher), slots.sum(), now);
    for lane in lanes {
        if lane.state() == LaneState::Resting {
            lane.set_state(LaneState::Open);
            dispatcher.note_idle(&lane);
        }
    }
    dispatcher.hand_out(now);
}

/// How many requests wait for a worker. Held requests do not count, since they wait for the end of a hold, nor do those
/// that wait for the share of their pool.
fn waiting(dispatcher: &Dispatcher) -> usize {
    if dispatcher.is_held() {
        0
    } else {
        dispatcher.queue.servable()
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::fixture::{Fixture, locally};
    use crate::lanes::Lane;
    use crate::rest::CollectionGroup;
    use carat_exchange::clock;
    use carat_settings::PoolSettings;
    use carat_wire::HasteReason;

    const TOOK: Duration = Duration::from_millis(80);

    fn rests(fixture: &Fixture) -> WorkerRests<'_> {
        WorkerRests::of(&fixture.dispatcher)
    }

    fn due_by(reason: FullReason) -> CollectionDue {
        let reason = reason as u8;
        CollectionDue { reason, load: 10 }
    }

    fn is_due(fixture: &Fixture, lane: &Lane) {
        rests(fixture).note_processors(2);
        rests(fixture).due(lane.tag.worker, due_by(FullReason::Oldgen), clock::now());
    }

    fn has_collected(fixture: &Fixture, lane: &Lane) {
        rests(fixture).collected(lane.tag.worker, TOOK, clock::now());
    }

    /// The collections of a group by their reasons.
    fn counted(group: &CollectionGroup) -> Vec<(&'static str, u64)> {
        let reasons = group.by_reason().filter(|(_, of)| of.count > 0);
        reasons
            .map(|(reason, of)| (reason.name(), of.count))
            .collect()
    }

    /// The workers that were told to collect since the last call.
    fn told(fixture: &mut Fixture) -> Vec<u32> {
        let mut told = Vec::new();
        while let Ok(event) = fixture.events.try_recv() {
            if let LaneEvent::Collect(worker) = event {
                told.push(worker.number);
            }
        }
        told
    }

    #[test]
    fn a_worker_that_rests_gets_no_request_until_it_has_collected() {
        locally(|| {
            let (mut fixture, workers) = Fixture::with_threads(2, 2);
            is_due(&fixture, &workers[1][0]);
            assert_eq!(told(&mut fixture), [2]);
            let pending: Vec<_> = (0..3).map(|_| fixture.dispatch("GET", "/")).collect();
            assert_eq!(
                (fixture.load(), fixture.queue().len()),
                (vec![1, 1, 0, 0], 1)
            );
            has_collected(&fixture, &workers[1][0]);
            assert_eq!((pending.len(), fixture.load().iter().sum()), (3, 3_usize));
            let totals = fixture.dispatcher.resting.totals();
            assert_eq!((totals.between_requests.all.count, totals.rests), (1, 1));
            assert_eq!(counted(&totals.between_requests), [("oldgen", 1)]);
            assert!(rests(&fixture).knows(workers[1][0].tag.worker));
        });
    }

    #[test]
    fn what_a_worker_has_not_begun_goes_to_another_before_it_rests() {
        locally(|| {
            let mut fixture = Fixture::new(&[4, 4]);
            let pending: Vec<_> = (0..4).map(|_| fixture.dispatch("POST", "/")).collect();
            let lane = Rc::clone(&fixture.lanes[0]);
            let first = lane.ids()[0];
            lane.worker_begins(first);
            is_due(&fixture, &lane);
            assert_eq!((fixture.load(), told(&mut fixture)), (vec![1, 3], vec![]));
            fixture.reply(&lane);
            assert_eq!((pending.len(), told(&mut fixture)), (4, vec![1]));
        });
    }

    #[test]
    fn a_stream_that_lasts_does_not_delay_a_collection() {
        locally(|| {
            tokio::time::pause();
            let mut fixture = Fixture::new(&[4, 4]);
            let pending = fixture.dispatch("GET", "/events");
            let lane = fixture.lanes.iter().find(|it| !it.is_empty());
            let lane = Rc::clone(lane.expect("one"));
            let before = clock::now();
            let (sender, _body) = crate::fixture::ignored_stream();
            lane.worker_begins(1);
            lane.in_flight_mut().stream(1, sender, before);
            let later = before + Duration::from_secs(5);
            rests(&fixture).note_processors(2);
            rests(&fixture).due(lane.tag.worker, due_by(FullReason::Nofree), later);
            assert_eq!(told(&mut fixture), [lane.tag.worker.number]);
            assert_eq!(lane.state(), LaneState::Resting);
            drop(pending);
        });
    }

    #[test]
    fn the_worker_that_is_left_serves_at_once() {
        locally(|| {
            let mut fixture = Fixture::new(&[1, 1]);
            let [first, second] = [0, 1].map(|index| Rc::clone(&fixture.lanes[index]));
            is_due(&fixture, &second);
            assert_eq!(
                (told(&mut fixture), second.state()),
                (vec![2], LaneState::Resting)
            );
            fixture.dispatcher.lane_lost(&first, None);
            assert_eq!(second.state(), LaneState::Open);
            let pending = fixture.dispatch("GET", "/");
            assert_eq!(second.in_flight().len(), 1);
            drop(pending);
        });
    }

    #[test]
    fn a_rest_pays_while_no_more_requests_wait_than_the_worker_serves_at_once() {
        locally(|| {
            let mut fixture = Fixture::with_queue(&[2, 2]);
            let [first, second] = [0, 1].map(|index| Rc::clone(&fixture.lanes[index]));
            is_due(&fixture, &second);
            assert_eq!(told(&mut fixture), [2]);
            let pending: Vec<_> = (0..4).map(|_| fixture.dispatch("GET", "/")).collect();
            assert_eq!((fixture.load(), fixture.queue().len()), (vec![2, 0], 2));
            has_collected(&fixture, &second);
            is_due(&fixture, &first);
            assert_eq!(first.state(), LaneState::Resting);
            drop(pending);
        });
    }

    #[test]
    fn waits_for_a_worker_that_rests_ask_for_no_further_worker() {
        locally(|| {
            let fixture = Fixture::with_queue(&[1, 1]);
            let second = Rc::clone(&fixture.lanes[1]);
            is_due(&fixture, &second);
            let pending: Vec<_> = (0..2).map(|_| fixture.dispatch("GET", "/")).collect();
            let asked = || fixture.dispatcher.take_queue_time();
            assert_eq!((fixture.queue().len(), asked()), (1, (Duration::ZERO, 0)));
            let further = fixture.dispatch("GET", "/");
            assert_eq!(asked(), (Duration::ZERO, 1));
            let (resting, arrived) = (&fixture.dispatcher.resting, clock::now());
            assert_eq!(resting.wait_beyond_rests(arrived, arrived + TOOK), None);
            rests(&fixture).collected(second.tag.worker, TOOK, arrived + TOOK);
            let later = Duration::from_millis(5);
            let waited = resting.wait_beyond_rests(arrived, arrived + TOOK + later);
            assert_eq!(waited, Some(later));
            drop((pending, further));
        });
    }

    #[test]
    fn requests_beyond_the_share_of_their_pool_do_not_keep_a_worker_from_its_rest() {
        locally(|| {
            let slow = PoolSettings {
                name: "slow".to_owned(),
                paths: vec!["/slow*".to_owned()],
                threads: Some(1),
                ..PoolSettings::default()
            };
            let mut fixture = Fixture::with_pools(&[1, 1], vec![slow]);
            let pending: Vec<_> = (0..4).map(|_| fixture.dispatch("GET", "/slow")).collect();
            let [idle, busy] = [true, false].map(|is_empty| {
                let mut lanes = fixture.lanes.iter();
                Rc::clone(lanes.find(|it| it.is_empty() == is_empty).expect("one"))
            });
            is_due(&fixture, &idle);
            assert_eq!(told(&mut fixture), [idle.tag.worker.number]);
            has_collected(&fixture, &idle);
            is_due(&fixture, &busy);
            assert_eq!(busy.state(), LaneState::Resting);
            drop(pending);
        });
    }

    #[test]
    fn a_worker_that_drains_rests_no_more_and_another_may() {
        locally(|| {
            let mut fixture = Fixture::new(&[1, 1, 1]);
            let [second, third] = [1, 2].map(|index| Rc::clone(&fixture.lanes[index]));
            is_due(&fixture, &second);
            is_due(&fixture, &third);
            assert_eq!(told(&mut fixture), [2]);
            fixture.dispatcher.drain(second.tag.worker);
            assert_eq!(
                (told(&mut fixture), second.state()),
                (vec![3], LaneState::Draining)
            );
            has_collected(&fixture, &second);
            assert_eq!(second.state(), LaneState::Draining);
        });
    }

    #[test]
    fn a_worker_that_does_not_reply_serves_again_and_a_late_reply_counts() {
        locally(|| {
            let mut fixture = Fixture::new(&[1, 1]);
            let second = Rc::clone(&fixture.lanes[1]);
            is_due(&fixture, &second);
            assert_eq!(told(&mut fixture), [2]);
            let now = clock::now();
            fixture
                .dispatcher
                .advance_rests(now + Duration::from_secs(4));
            assert_eq!(second.state(), LaneState::Resting);
            // The edge itself stood still for a while.
            fixture.dispatcher.note_freeze(now, Duration::from_secs(3));
            fixture
                .dispatcher
                .advance_rests(now + Duration::from_secs(7));
            assert_eq!(second.state(), LaneState::Resting);
            fixture
                .dispatcher
                .advance_rests(now + Duration::from_secs(9));
            assert_eq!(second.state(), LaneState::Open);
            has_collected(&fixture, &second);
            let totals = fixture.dispatcher.resting.totals();
            assert_eq!(totals.beside_requests.all.count, 1);
        });
    }

    #[test]
    fn a_collection_within_a_request_ends_the_need_and_is_counted_once() {
        locally(|| {
            let mut fixture = Fixture::new(&[4, 4]);
            let pending = fixture.dispatch("GET", "/");
            let lane = fixture.lanes.iter().find(|it| !it.is_empty());
            let lane = Rc::clone(lane.expect("one"));
            lane.worker_begins(1);
            is_due(&fixture, &lane);
            assert_eq!(lane.state(), LaneState::Resting);
            for full in [1, 0] {
                let micros = 80_000;
                let request = 1;
                let reason = FullReason::Nofree as u8;
                let haste = HasteReason::Sudden as u8;
                let collection = Collection {
                    request,
                    micros,
                    full,
                    reason,
                    haste,
                };
                rests(&fixture).waited(lane.tag.worker, collection, clock::now());
            }
            assert_eq!(
                (lane.state(), told(&mut fixture)),
                (LaneState::Open, vec![])
            );
            let totals = fixture.dispatcher.resting.totals();
            assert_eq!(
                (totals.within_requests.all.count, totals.waited_requests),
                (1, 2)
            );
            assert_eq!(counted(&totals.within_requests), [("nofree", 1)]);
            drop(pending);
        });
    }

    #[test]
    fn a_worker_whose_share_the_others_could_not_serve_is_told_to_leave_its_collection_to_ruby() {
        locally(|| {
            let mut fixture = Fixture::with_queue(&[1, 1]);
            let [first, second] = [0, 1].map(|index| Rc::clone(&fixture.lanes[index]));
            is_due(&fixture, &second);
            let pending: Vec<_> = (0..3).map(|_| fixture.dispatch("GET", "/")).collect();
            has_collected(&fixture, &second);
            assert_eq!(told(&mut fixture), [2]);
            is_due(&fixture, &first);
            let event = fixture.events.try_recv().expect("a reply");
            assert_eq!(event, LaneEvent::DeclineCollection(first.tag.worker));
            assert_eq!(first.state(), LaneState::Open);
            drop(pending);
        });
    }

    /// Reports a collection that did not wait as its worker had no rest until the heap had grown by the bound.
    fn has_grown(fixture: &Fixture, lane: &Lane) {
        let collection = Collection {
            request: 1,
            micros: 80_000,
            full: 1,
            reason: FullReason::Oldgen as u8,
            haste: HasteReason::Bound as u8,
        };
        rests(fixture).waited(lane.tag.worker, collection, clock::now());
    }

    #[test]
    fn a_collection_that_did_not_wait_says_whether_there_was_another_worker() {
        locally(|| {
            let hastes = [Fixture::new(&[1]), Fixture::new(&[1, 1])].map(|fixture| {
                has_grown(&fixture, &fixture.lanes[0]);
                let totals = fixture.dispatcher.resting.totals();
                let counts = totals.haste.by_reason().filter(|(_, count)| *count > 0);
                counts
                    .map(|(reason, count)| (reason.name(), count))
                    .collect::<Vec<_>>()
            });
            assert_eq!(hastes, [vec![("alone", 1)], vec![("bound", 1)]]);
        });
    }
}
