use std::convert::Infallible;

use super::*;
use crate::poller::NoPoller;
use crate::timeouts::Timeout;

type State = SchedulerState<&'static str, NoPoller>;

const SECOND: Duration = Duration::from_secs(1);

fn enter(state: &mut State, fiber: &'static str, request: &WaitRequest<'_>) -> WaitId {
    let Ok(wait_id): Result<_, Infallible> = state.enter(fiber, request, Instant::now());
    wait_id
}

fn block(state: &mut State, fiber: &'static str) -> WaitId {
    let request = WaitRequest {
        is_block: true,
        ..WaitRequest::default()
    };
    enter(state, fiber, &request)
}

fn sleep(state: &mut State, fiber: &'static str, limit: Duration) -> WaitId {
    let request = WaitRequest {
        limit: Some(limit),
        ..WaitRequest::default()
    };
    enter(state, fiber, &request)
}

fn timeout(fiber: &'static str, deadline: Instant) -> Timeout<&'static str> {
    Timeout {
        fiber,
        exception: "Timeout::Error",
        message: "execution expired",
        deadline,
        is_due: false,
    }
}

/// The fibers of the next round.
fn round(state: &mut State) -> Vec<&'static str> {
    state.begin_round();
    std::iter::from_fn(|| state.pop())
        .map(|(fiber, _)| fiber)
        .collect()
}

#[test]
fn a_fiber_that_yields_runs_in_the_next_round() {
    let mut state = State::default();
    let request = WaitRequest {
        is_yield: true,
        ..WaitRequest::default()
    };
    let wait_id = enter(&mut state, "a", &request);
    assert!(state.is_woken(wait_id) && state.is_busy());
    assert_eq!(round(&mut state), ["a"]);
    assert_eq!(state.leave(wait_id), Some(WaitOutcome::Unblocked));
    assert!(state.is_over());
}

#[test]
fn a_sleep_ends_at_its_deadline_and_leaves_no_timer() {
    let mut state = State::default();
    let wait_id = sleep(&mut state, "a", SECOND);
    assert!(round(&mut state).is_empty());
    assert!(state.expire(Instant::now() + SECOND).is_empty());
    assert_eq!(round(&mut state), ["a"]);
    assert_eq!(state.leave(wait_id), Some(WaitOutcome::TimedOut));
    assert_eq!(state.next_in(Instant::now()), None);
}

#[test]
fn a_wait_that_is_left_early_is_not_woken_later() {
    let mut state = State::default();
    let wait_id = sleep(&mut state, "a", SECOND);
    assert_eq!(state.leave(wait_id), None);
    state.expire(Instant::now() + SECOND);
    assert!(round(&mut state).is_empty() && state.is_over());
}

#[test]
fn unblock_ends_a_block_and_nothing_else() {
    let mut state = State::default();
    let blocked = block(&mut state, "a");
    let asleep = sleep(&mut state, "b", SECOND);
    state.unblock("a");
    state.unblock("b");
    assert_eq!(round(&mut state), ["a"]);
    assert!(state.is_woken(blocked) && !state.is_woken(asleep));
}

#[test]
fn a_fiber_that_is_unblocked_before_it_blocks_runs_when_it_does() {
    let mut state = State::default();
    state.unblock("a");
    let wait_id = block(&mut state, "a");
    assert_eq!(round(&mut state), ["a"]);
    assert_eq!(state.leave(wait_id), Some(WaitOutcome::Unblocked));
}

#[test]
fn an_early_wake_up_of_a_fiber_that_never_blocks_is_dropped() {
    let mut state = State::default();
    state.unblock("a");
    assert!(round(&mut state).is_empty() && state.is_over());
}

#[test]
fn what_a_fiber_is_given_counts_more_than_a_deadline_that_has_passed() {
    let mut state = State::default();
    let request = WaitRequest {
        limit: Some(SECOND),
        is_block: true,
        ..WaitRequest::default()
    };
    let wait_id = enter(&mut state, "a", &request);
    state.expire(Instant::now() + SECOND);
    state.unblock("a");
    assert_eq!(round(&mut state), ["a"]);
    assert_eq!(state.leave(wait_id), Some(WaitOutcome::Unblocked));
}

#[test]
fn the_first_reason_to_wake_a_fiber_counts() {
    let mut state = State::default();
    let wait_id = block(&mut state, "a");
    assert!(state.interrupt("a", "IOError"));
    state.cancel();
    assert_eq!(round(&mut state), ["a"]);
    assert_eq!(state.leave(wait_id), Some(WaitOutcome::Raised("IOError")));
    assert!(!state.interrupt("a", "IOError"));
}

#[test]
fn a_timeout_interrupts_a_fiber_that_waits() {
    let mut state = State::default();
    let now = Instant::now();
    let number = state.add_timeout(timeout("a", now));
    let wait_id = block(&mut state, "a");
    assert!(state.expire(now).is_empty());
    assert_eq!(state.leave(wait_id), Some(WaitOutcome::Expired(number)));
}

#[test]
fn a_timeout_of_a_fiber_that_does_not_wait_is_left_to_the_caller() {
    let mut state = State::default();
    let now = Instant::now();
    let number = state.add_timeout(timeout("a", now));
    let ended = state.add_timeout(timeout("b", now));
    state.remove_timeout(ended);
    assert_eq!(state.expire(now), [number]);
}

#[test]
fn a_timeout_comes_after_what_a_woken_fiber_was_given() {
    let mut state = State::default();
    let now = Instant::now();
    let number = state.add_timeout(timeout("a", now));
    let wait_id = block(&mut state, "a");
    state.unblock("a");
    assert!(state.expire(now).is_empty());
    assert_eq!(state.leave(wait_id), Some(WaitOutcome::Unblocked));
    assert_eq!(state.timeouts().take_due("a"), Some(number));
}

#[test]
fn a_stranded_fiber_runs_though_it_does_not_wait() {
    let mut state = State::default();
    state.push("new");
    block(&mut state, "blocked");
    state.push("blocked");
    state.begin_round();
    assert_eq!(state.pop(), Some(("new", false)));
    assert_eq!(state.pop(), Some(("blocked", true)));
}

#[test]
fn the_last_fiber_waits_for_all_others() {
    let mut state = State::default();
    let last = state.enter_last("main");
    let other = block(&mut state, "a");
    state.wake_last();
    assert!(!state.is_woken(last));
    state.leave(other);
    state.wake_last();
    assert!(state.is_woken(last));
}

#[test]
fn a_regular_file_is_ready_at_once_but_has_no_urgent_data() {
    let mut state = State::default();
    let request = WaitRequest {
        descriptors: &[(3, 1 | PRIORITY)],
        ..WaitRequest::default()
    };
    let wait_id = enter(&mut state, "a", &request);
    assert_eq!(state.leave(wait_id), Some(WaitOutcome::Ready(1)));
    let urgent = WaitRequest {
        descriptors: &[(3, PRIORITY)],
        ..WaitRequest::default()
    };
    let wait_id = enter(&mut state, "a", &urgent);
    assert!(!state.is_woken(wait_id));
}

#[test]
fn after_a_fork_only_timeouts_of_the_fiber_that_forked_are_left() {
    let mut state = State::default();
    let now = Instant::now();
    block(&mut state, "parent");
    state.unblock("other");
    state.add_timeout(timeout("parent", now));
    let number = state.add_timeout(timeout("child", now));
    state.start_over("child");
    assert!(state.is_over());
    assert_eq!(state.expire(now), [number]);
}

#[test]
fn every_handle_is_seen() {
    let mut state = State::default();
    block(&mut state, "waits");
    state.interrupt("waits", "exception");
    state.unblock("early");
    state.strand("stranded");
    state.add_timeout(timeout("under a timeout", Instant::now()));
    let mut seen = Vec::new();
    state.each_handle(|handle| seen.push(handle));
    for handle in "waits|exception|early|stranded|under a timeout|Timeout::Error".split('|') {
        assert!(seen.contains(&handle), "{handle} of {seen:?}");
    }
}
