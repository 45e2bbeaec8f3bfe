use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_cable::EdgeMessage;
use carat_exchange::clock;

use super::edge_link::{EdgeLink, LINK_LIMIT};

/// How long the old edge may take to put a broadcast in order. One that stands still is given up.
const ORDER_TIMEOUT: Duration = Duration::from_secs(5);

/// The old edge, as the new one sees it.
#[derive(Debug, Default)]
pub(in crate::http::cable) struct Arrivals {
    /// Set while the old edge puts broadcasts in order.
    order: RefCell<Option<Rc<EdgeLink>>>,
    unordered: RefCell<VecDeque<UnorderedBroadcast>>,
    unordered_bytes: Cell<usize>,
}

/// What was broadcast at this edge, until the old one says that it is its turn.
#[derive(Debug)]
pub(in crate::http::cable) struct UnorderedBroadcast {
    pub(in crate::http::cable) stream: Box<str>,
    pub(in crate::http::cable) message: Box<[u8]>,
    since: Instant,
}

impl Arrivals {
    /// Broadcasts are put in order by the old edge, or by nobody.
    pub(in crate::http::cable) fn set_order(&self, link: Option<Rc<EdgeLink>>) {
        *self.order.borrow_mut() = link;
    }

    /// Has the old edge put a broadcast in order. False if that is not its task.
    pub(super) fn order(&self, stream: &str, message: &[u8]) -> bool {
        let order = self.order.borrow();
        let Some(link) = &*order else { return false };
        link.send(&EdgeMessage::Broadcast { stream, message }, None);
        self.unordered.borrow_mut().push_back(UnorderedBroadcast {
            stream: stream.into(),
            message: message.into(),
            since: clock::now(),
        });
        let bytes = self.unordered_bytes.get() + stream.len() + message.len();
        self.unordered_bytes.set(bytes);
        if bytes > LINK_LIMIT {
            link.close();
        }
        true
    }

    /// Tells the old edge, if it still puts broadcasts in order.
    pub(super) fn pass_on(&self, message: &EdgeMessage<'_>) {
        if let Some(link) = &*self.order.borrow() {
            link.send(message, None);
        }
    }

    /// What comes next, now that it is its turn.
    pub(in crate::http::cable) fn next(&self) -> Option<UnorderedBroadcast> {
        let next = self.unordered.borrow_mut().pop_front()?;
        let bytes = next.stream.len() + next.message.len();
        self.unordered_bytes.set(self.unordered_bytes.get() - bytes);
        Some(next)
    }

    /// Gives an old edge up that stands still. Called once a tick.
    pub(in crate::http::cable) fn tick(&self) {
        let unordered = self.unordered.borrow();
        let since = unordered.front().map(|it| it.since);
        let is_late = since.is_some_and(|since| clock::now() - since > ORDER_TIMEOUT);
        if let Some(link) = self.order.borrow().as_ref().filter(|_| is_late) {
            link.close();
        }
    }
}
