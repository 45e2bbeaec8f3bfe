use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use super::end_hold;
use crate::PendingReply;
use crate::fixture::{Fixture, locally};
use crate::lanes::{Lane, LaneEvent, LaneState};
use carat_exchange::{Call, Refusal, Reply};

const MINUTE: Duration = Duration::from_secs(60);

fn outcome(pending: PendingReply) -> Poll<Result<Reply, Refusal>> {
    pin!(pending).poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn concurrent_lanes_are_filled_evenly_up_to_their_capacity() {
    locally(|| {
        let fixture = Fixture::new(&[3, 3]);
        let pending = requests(&fixture, 5);
        assert_eq!(fixture.load().iter().sum::<usize>(), 5);
        assert!(fixture.load().contains(&2));
        let more: Vec<_> = (0..2).map(|_| fixture.dispatch("GET", "/late")).collect();
        let found = (fixture.load(), fixture.queue());
        assert_eq!(found, (vec![3, 3], vec!["/late".to_owned()]));
        drop((pending, more));
    });
}

#[test]
fn requests_on_lanes_are_not_counted_as_waiting() {
    locally(|| {
        let fixture = Fixture::new(&[3]);
        let pending = requests(&fixture, 4);
        assert_eq!((fixture.load(), pending.len()), (vec![3], 4));
        assert!(is_full(&fixture));
    });
}

#[test]
fn a_burst_with_free_slots_is_not_refused_while_the_outbox_is_full() {
    locally(|| {
        let fixture = Fixture::new(&[3]);
        fixture.lanes[0].fill_outbox();
        fixture.dispatcher.choose(Instant::now());
        let pending = requests(&fixture, 4);
        assert_eq!((fixture.load(), pending.len()), (vec![0], 4));
        assert!(is_full(&fixture));

        fixture.lanes[0].outbox.push(Vec::clear);
        assert!(fixture.lanes[0].outbox.has_recovered());
        fixture.dispatcher.refill(&fixture.lanes[0], Instant::now());
        assert_eq!((fixture.load(), fixture.queue().len()), (vec![3], 1));
    });
}

#[test]
fn requests_that_may_be_repeated_return_to_the_queue_in_order() {
    locally(|| {
        let fixture = Fixture::new(&[256]);
        let methods = ["QUERY", "POST", "HEAD", "PUT", "OPTIONS", "POST", "GET"];
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
            assert_refused(pending.remove(index), Refusal::WorkerLost);
        }
        assert!(pending.into_iter().all(|reply| outcome(reply).is_pending()));
    });
}

#[test]
fn a_worker_that_lives_on_without_its_lane_begins_nothing() {
    locally(|| {
        let fixture = Fixture::new(&[256]);
        let _pending = ["/1", "/2"].map(|path| fixture.dispatch("POST", path));
        let lane = &fixture.lanes[0];
        assert!(lane.worker_begins(1));
        fixture.dispatcher.lane_lost(lane, None);

        assert_eq!(fixture.queue(), ["/2"]);
        assert!(!lane.worker_begins(2));
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
        assert_refused(pending, Refusal::WorkerLost);
    });
}

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
        let found = (fixture.load(), fixture.queue());
        assert_eq!(found, (vec![0], vec!["/1".to_owned()]));
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
        assert!(is_full(&fixture));
        drop(held);
    });
}

#[test]
fn a_hold_ends_by_itself_and_extends_the_time_that_requests_may_wait() {
    locally(|| {
        let fixture = Fixture::new(&[3]);
        let now = Instant::now();
        fixture.dispatcher.hold(now, MINUTE);
        end_hold(&fixture.dispatcher, now + MINUTE / 2);
        let found = fixture.dispatcher.hold.left(now + MINUTE / 2);
        assert_eq!(found, Some(MINUTE / 2));
        end_hold(&fixture.dispatcher, now + MINUTE);
        assert_eq!(fixture.dispatcher.hold.left(now + MINUTE), None);
        let limit = fixture.dispatcher.hold.extend(MINUTE, now + MINUTE);
        assert_eq!(limit, MINUTE * 2);
    });
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

        assert_refused(pending.remove(1), Refusal::AppTimeout);
        let found = (lane.ids(), fixture.queue());
        assert_eq!(found, (vec![1, 3], vec!["/4".to_owned()]));
        assert!(!lane.has_room(Instant::now()));
        assert!(!fixture.dispatcher.lanes.is_drained(lane.tag.worker));

        lane.release(1, Instant::now());
        lane.release(3, Instant::now());
        fixture.dispatcher.refill(&lane, Instant::now());
        assert!(fixture.dispatcher.lanes.is_drained(lane.tag.worker));
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

#[test]
fn a_lane_on_trial_gets_its_own_requests_and_no_others() {
    locally(|| {
        let fixture = Fixture::new(&[]);
        let lane = lane_on_trial(&fixture, 1);
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
        let lane = lane_on_trial(&fixture, 2);
        let checked = fixture.dispatcher.try_on(&lane, Call::plain("GET", "/up"));
        fixture.dispatcher.lane_lost(&lane, None);
        assert_refused(checked, Refusal::WorkerLost);
        assert_eq!(fixture.load(), [0]);
    });
}

/// Dispatches `count` requests.
fn requests(fixture: &Fixture, count: usize) -> Vec<PendingReply> {
    let pending = (0..count).map(|_| fixture.dispatch("GET", "/"));
    pending.collect()
}

/// Whether another request is refused.
fn is_full(fixture: &Fixture) -> bool {
    let refused = fixture.dispatcher.dispatch(Call::plain("GET", "/"));
    refused.is_err()
}

#[track_caller]
fn assert_refused(pending: PendingReply, refusal: Refusal) {
    let outcome = outcome(pending);
    assert!(
        matches!(&outcome, Poll::Ready(Err(it)) if *it == refusal),
        "{outcome:?}"
    );
}

/// A lane of a worker on trial.
fn lane_on_trial(fixture: &Fixture, worker: u32) -> Rc<Lane> {
    let lane = Lane::unshared(worker, 1);
    lane.begin_trial();
    fixture.dispatcher.lane_opened(&lane);
    lane
}
