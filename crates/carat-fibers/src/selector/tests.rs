use std::cell::RefCell;
use std::collections::HashSet;

use super::*;
use crate::waits::{Wait, Waits};

const READ: u16 = 1;
const WRITE: u16 = 4;
const HANG_UP: u16 = 0x10;

/// Descriptor 9 is a regular file; descriptor 13 cannot be watched at all.
#[derive(Debug, Default)]
struct FakePoller {
    calls: RefCell<Vec<(&'static str, RawFd, u64, u16)>>,
    open: RefCell<HashSet<RawFd>>,
}

impl Poller for FakePoller {
    type Error = &'static str;

    fn open() -> Result<FakePoller, &'static str> {
        Ok(FakePoller::default())
    }

    fn add(&self, number: RawFd, token: u64, events: u16) -> Result<Armed, &'static str> {
        self.calls.borrow_mut().push(("add", number, token, events));
        match number {
            9 => return Ok(Armed::AlwaysReady),
            ..0 | 13 => return Err("bad descriptor"),
            _ => {}
        }
        self.open.borrow_mut().insert(number);
        Ok(Armed::Yes)
    }

    fn modify(&self, number: RawFd, token: u64, events: u16) -> Result<Armed, &'static str> {
        let call = ("modify", number, token, events);
        self.calls.borrow_mut().push(call);
        if self.open.borrow().contains(&number) {
            return Ok(Armed::Yes);
        }
        Ok(Armed::Unregistered)
    }

    fn remove(&self, number: RawFd) {
        self.open.borrow_mut().remove(&number);
    }

    fn notify(&self) {}
}

struct Fixture {
    selector: Selector<FakePoller>,
    wait_ids: Vec<WaitId>,
}

fn fixture() -> Fixture {
    let mut waits = Waits::default();
    Fixture {
        selector: Selector::new(FakePoller::default()),
        wait_ids: (0..3).map(|fiber| waits.add(Wait::new(fiber))).collect(),
    }
}

impl Fixture {
    fn watch(&mut self, number: RawFd, waiter: usize, events: u16) -> Result<Armed, &'static str> {
        self.selector.watch(number, self.wait_ids[waiter], events)
    }

    fn last_call(&self) -> (&'static str, RawFd, u64, u16) {
        let calls = self.selector.poller().calls.borrow();
        *calls.last().expect("a call")
    }

    fn calls(&self) -> usize {
        self.selector.poller().calls.borrow().len()
    }

    /// Which waiters the event wakes, with what.
    fn deliver(&mut self, token: u64, flags: u16) -> Vec<(usize, u16)> {
        let mut woken = Vec::new();
        let wait_ids = &self.wait_ids;
        self.selector.deliver(token, flags, |wait_id, ready| {
            let waiter = wait_ids.iter().position(|known| *known == wait_id);
            woken.push((waiter.expect("a known wait"), ready));
        });
        woken
    }
}

#[test]
fn a_descriptor_is_added_once_and_armed_for_each_wait() {
    let mut fixture = fixture();
    assert_eq!(fixture.watch(5, 0, READ), Ok(Armed::Yes));
    let (_, _, token, _) = fixture.last_call();
    assert_eq!(fixture.deliver(token, READ), [(0, READ)]);
    assert!(fixture.selector.is_idle() && fixture.selector.is_registered(5));
    assert_eq!(fixture.watch(5, 1, WRITE), Ok(Armed::Yes));
    assert_eq!(fixture.last_call(), ("modify", 5, token, WRITE));
}

#[test]
fn an_event_of_a_file_that_had_the_number_before_wakes_nobody() {
    let mut fixture = fixture();
    fixture.watch(5, 0, READ).expect("armed");
    let (_, _, old, _) = fixture.last_call();
    let wait_id = fixture.wait_ids[0];
    fixture.selector.unwatch(5, wait_id);
    // The descriptor is closed unseen, and its number given to another.
    fixture.selector.poller().open.borrow_mut().clear();
    fixture.watch(5, 1, READ).expect("armed");
    let (call, _, new, _) = fixture.last_call();
    assert_eq!((call, new == old), ("add", false));
    assert!(fixture.deliver(old, READ).is_empty());
    assert_eq!(fixture.deliver(new, READ), [(1, READ)]);
}

#[test]
fn the_others_on_a_descriptor_go_on_waiting() {
    let mut fixture = fixture();
    fixture.watch(5, 0, READ).expect("armed");
    fixture.watch(5, 1, WRITE).expect("armed");
    let (_, _, token, events) = fixture.last_call();
    assert_eq!(events, READ | WRITE);
    assert_eq!(fixture.deliver(token, WRITE), [(1, WRITE)]);
    assert_eq!(fixture.last_call(), ("modify", 5, token, READ));
    assert!(!fixture.selector.is_idle());
}

#[test]
fn a_hang_up_wakes_readers_and_writers_but_is_no_urgent_data() {
    let mut fixture = fixture();
    fixture.watch(5, 0, READ).expect("armed");
    fixture.watch(5, 1, PRIORITY).expect("armed");
    fixture.watch(5, 2, WRITE | PRIORITY).expect("armed");
    let (_, _, token, _) = fixture.last_call();
    let calls = fixture.calls();
    assert_eq!(fixture.deliver(token, HANG_UP), [(0, READ), (2, WRITE)]);
    // Armed anew, the poller would report the hang-up at once.
    assert_eq!(fixture.calls(), calls);
}

#[test]
fn a_regular_file_is_always_ready_and_watched_by_nobody() {
    let mut fixture = fixture();
    assert_eq!(fixture.watch(9, 0, READ), Ok(Armed::AlwaysReady));
    assert!(fixture.selector.is_idle() && !fixture.selector.is_registered(9));
}

#[test]
fn a_descriptor_that_cannot_be_watched_leaves_no_waiter() {
    let mut fixture = fixture();
    for number in [13, -1] {
        assert_eq!(fixture.watch(number, 0, READ), Err("bad descriptor"));
        assert!(fixture.selector.is_idle());
        assert!(fixture.selector.forget(number).is_empty());
    }
}

#[test]
fn a_descriptor_that_is_closed_gives_its_waiters_back() {
    let mut fixture = fixture();
    fixture.watch(5, 0, READ).expect("armed");
    fixture.watch(5, 1, READ).expect("armed");
    assert_eq!(fixture.selector.forget(5), fixture.wait_ids[..2]);
    assert!(fixture.selector.is_idle() && !fixture.selector.is_registered(5));
    assert!(fixture.selector.poller().open.borrow().is_empty());
    assert!(fixture.selector.forget(5).is_empty());
}
