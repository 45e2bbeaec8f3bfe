use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::part::cable_history::unix_seconds;
use crate::{ClientOutbox, SocketNumber, ping, text_frame};

/// Sends each client a ping every three seconds. A client that gets none for six seconds connects
/// again.
#[derive(Debug, Default)]
pub(super) struct Pings {
    /// The outboxes of all clients, in groups. The clients of a group get their pings in the same
    /// tick of 100 ms.
    groups: RefCell<[BTreeMap<SocketNumber, Rc<ClientOutbox>>; Pings::GROUPS as usize]>,
    ticks: Cell<u32>,
}

impl Pings {
    /// The groups of clients: one for each tick between two pings of a client.
    pub(super) const GROUPS: u32 = 30;

    pub(super) fn add(&self, number: SocketNumber, outbox: &Rc<ClientOutbox>) {
        let group = group_of(number);
        self.groups.borrow_mut()[group].insert(number, Rc::clone(outbox));
    }

    pub(super) fn remove(&self, number: SocketNumber) {
        self.groups.borrow_mut()[group_of(number)].remove(&number);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.groups.borrow().iter().all(BTreeMap::is_empty)
    }

    /// Sends a ping to the clients of the next group. A client for which other bytes wait needs
    /// none: they also show that the connection lives.
    pub(super) fn tick(&self) {
        let tick = self.ticks.get();
        self.ticks.set(tick.wrapping_add(1));
        let frame = text_frame(&ping(unix_seconds())).into();
        self.each(tick % Pings::GROUPS, |outbox| {
            if outbox.is_empty() {
                outbox.push(&frame);
            }
        });
    }

    pub(super) fn each(&self, group: u32, act: impl Fn(&ClientOutbox)) {
        let groups = self.groups.borrow();
        groups[group as usize]
            .values()
            .for_each(|outbox| act(outbox));
    }
}

fn group_of(number: SocketNumber) -> usize {
    usize::try_from(number % u64::from(Pings::GROUPS)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_gets_a_ping_in_thirty_ticks() {
        let pings = Pings::default();
        let outboxes: Vec<_> = (0..100).map(|_| Rc::<ClientOutbox>::default()).collect();
        for (number, outbox) in (0..).zip(&outboxes) {
            pings.add(number, outbox);
        }
        pings.remove(99);
        (0..29).for_each(|_| pings.tick());
        assert!(outboxes.iter().filter(|it| it.is_empty()).count() > 1);
        pings.tick();
        let once = outboxes[0].held_bytes();
        assert!(outboxes[..99].iter().all(|it| it.held_bytes() == once));
        assert!(outboxes[99].is_empty());
        (0..30).for_each(|_| pings.tick());
        assert_eq!(outboxes[0].held_bytes(), once);
    }
}
