use std::cell::{Cell, RefCell};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Duration;

use carat_cable::EdgeMessage;
use tokio::time::timeout;

use super::edge_link::EdgeLink;

/// How long sockets may take to pass to the new edge: each one whose client has sent a command waits for its end. Clients
/// of others are asked to connect again.
const MOVE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the new edge may take to read the last message.
const LAST_MESSAGE_TIMEOUT: Duration = Duration::from_secs(5);
/// No more sockets leave while this many bytes wait for the new edge.
const LEAVING_LIMIT: usize = 1024 * 1024;

/// The new edge, as the old one sees it.
#[derive(Debug, Default)]
pub(in crate::cable) struct Departures {
    link: RefCell<Option<Rc<EdgeLink>>>,
    room: Cell<Room>,
    /// Sockets that can go: of the plain protocol, and of the extended one.
    movable: [Cell<u32>; 2],
    /// Whether the new edge keeps what this one has kept, and so can have clients of the extended protocol.
    is_history_shared: Cell<bool>,
    moved: Cell<u32>,
    /// Whether sockets go, or are asked to.
    is_under_way: Cell<bool>,
    /// Whether none is to stay.
    is_over: Cell<bool>,
}

/// Whether sockets may go now.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Room {
    /// None goes.
    #[default]
    None,
    /// The new edge is to say how many.
    Asked,
    /// So many more.
    For(u32),
}

/// A socket that can go.
#[derive(Debug)]
pub(in crate::cable) struct Movable {
    departures: Rc<Departures>,
    is_extended: bool,
}

impl Movable {
    /// Whether it goes as soon as it can, so that its client is served no other command.
    pub(in crate::cable) fn is_leaving(&self) -> bool {
        self.is_wanted() && self.departures.have_begun()
    }

    /// Whether it may go now.
    pub(in crate::cable) fn may_leave(&self) -> bool {
        self.is_wanted() && self.departures.have_room()
    }

    fn is_wanted(&self) -> bool {
        !self.is_extended || self.departures.share_history()
    }
}

impl Drop for Movable {
    fn drop(&mut self) {
        let movable = &self.departures.movable[usize::from(self.is_extended)];
        movable.set(movable.get() - 1);
        if movable.get() == 0 {
            self.departures.note_change();
        }
    }
}

impl Departures {
    /// Another socket can go.
    pub(in crate::cable) fn add(self: &Rc<Self>, is_extended: bool) -> Movable {
        let movable = &self.movable[usize::from(is_extended)];
        movable.set(movable.get() + 1);
        Movable {
            departures: Rc::clone(self),
            is_extended,
        }
    }

    /// How many can go.
    fn movable(&self) -> u32 {
        let [plain, extended] = &self.movable;
        plain.get() + u32::from(self.share_history()) * extended.get()
    }

    /// The new edge keeps what this one has kept, or does not.
    pub(in crate::cable) fn set_history_shared(&self, is_shared: bool) {
        self.is_history_shared.set(is_shared);
    }

    /// Whether the new edge keeps what this one has kept, and so can have clients of the extended protocol.
    pub(in crate::cable) fn share_history(&self) -> bool {
        self.is_history_shared.get()
    }

    /// Sends the new edge clients that are away, as fast as it reads.
    pub(in crate::cable) fn send_away_clients(&self, mut next: impl FnMut() -> Option<Vec<u8>>) {
        let link = self.link.borrow();
        let Some(link) = link.as_ref().filter(|_| self.share_history()) else {
            return;
        };
        while link.waiting_bytes() < LEAVING_LIMIT {
            let Some(record) = next() else { return };
            link.send(&EdgeMessage::Away(&record), None);
        }
    }

    /// Whether sockets go now.
    fn have_begun(&self) -> bool {
        matches!(self.room.get(), Room::For(1..))
    }

    /// Whether a socket may go now.
    fn have_room(&self) -> bool {
        let link = self.link.borrow();
        let waiting = link.as_ref().map(|link| link.waiting_bytes());
        self.have_begun() && waiting.is_some_and(|bytes| bytes < LEAVING_LIMIT)
    }

    /// Whether sockets are to go elsewhere as soon as they are opened.
    pub(in crate::cable) fn are_over(&self) -> bool {
        self.is_over.get()
    }

    /// Whether sockets go, or are asked to.
    pub(in crate::cable) fn are_under_way(&self) -> bool {
        self.is_under_way.get()
    }

    pub(in crate::cable) fn set_under_way(&self, is_under_way: bool) {
        self.is_under_way.set(is_under_way);
    }

    /// None is to stay, or all of them after all.
    pub(in crate::cable) fn set_over(&self, is_over: bool) {
        self.is_over.set(is_over);
    }

    /// Sockets can go to this edge.
    pub(in crate::cable) fn set_link(&self, link: &Rc<EdgeLink>) {
        *self.link.borrow_mut() = Some(Rc::clone(link));
    }

    /// Tells the new edge.
    pub(super) fn pass_on(&self, message: &EdgeMessage<'_>) {
        if let Some(link) = &*self.link.borrow() {
            link.send(message, None);
        }
    }

    fn note_change(&self) {
        if let Some(link) = &*self.link.borrow() {
            link.note_change();
        }
    }

    /// The new edge has room for so many.
    pub(in crate::cable) fn begin(&self, count: u32) {
        if self.room.get() == Room::Asked {
            self.room.set(Room::For(count));
            self.note_change();
        }
    }

    /// Has all sockets go that can and may, and returns how many these were. `wake` wakes the tasks of all.
    pub(in crate::cable) async fn move_all(&self, wake: impl Fn()) -> u32 {
        let Some(link) = self.link.borrow().clone() else {
            return 0;
        };
        self.moved.set(0);
        // What takes longer stays.
        let _ = timeout(MOVE_TIMEOUT, self.move_over(&link, wake)).await;
        self.room.set(Room::None);
        link.send(&EdgeMessage::Moved, None);
        self.moved.get()
    }

    async fn move_over(&self, link: &EdgeLink, wake: impl Fn()) {
        self.room.set(Room::Asked);
        link.send(&EdgeMessage::Offer(self.movable()), None);
        while !link.is_over() && self.movable() > 0 && self.room.get() != Room::For(0) {
            if self.have_room() {
                wake();
            }
            link.changed().await;
        }
    }

    /// A socket, whose record was taken just now, goes to the new edge.
    pub(in crate::cable) fn send_away(&self, record: &[u8], socket: OwnedFd) {
        if let Some(link) = &*self.link.borrow() {
            link.send(&EdgeMessage::Socket(record), Some(socket));
            self.moved.set(self.moved.get() + 1);
        }
        if let Room::For(room) = self.room.get() {
            self.room.set(Room::For(room.saturating_sub(1)));
            if room <= 1 {
                self.note_change();
            }
        }
    }

    /// Puts no more broadcasts in order, and waits until the new edge has read all.
    pub(in crate::cable) async fn finish(&self) {
        let Some(link) = self.link.borrow().clone() else {
            return;
        };
        link.send(&EdgeMessage::Ordered, None);
        let sent = async {
            while link.waiting_bytes() > 0 {
                link.changed().await;
            }
        };
        // One that does not read is given up.
        let _ = timeout(LAST_MESSAGE_TIMEOUT, sent).await;
    }

    /// The new edge is gone, or was given up.
    pub(in crate::cable) fn end(&self, link: &Rc<EdgeLink>) {
        let mut current = self.link.borrow_mut();
        if current
            .as_ref()
            .is_some_and(|current| Rc::ptr_eq(current, link))
        {
            *current = None;
            self.room.set(Room::None);
            self.set_history_shared(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_wait_while_much_waits_for_the_new_edge() {
        let (departures, link) = (Departures::default(), Rc::<EdgeLink>::default());
        departures.set_link(&link);
        departures.begin(2);
        assert!(!departures.have_begun(), "nobody has asked for room");
        departures.room.set(Room::Asked);
        departures.begin(2);
        assert!(departures.have_begun() && departures.have_room());
        departures.pass_on(&EdgeMessage::Socket(&vec![b'1'; LEAVING_LIMIT]));
        assert!(departures.have_begun() && !departures.have_room());
        departures.end(&link);
        assert!(!departures.have_begun());
    }
}
