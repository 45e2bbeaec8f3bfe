use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::pin::pin;
use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_cable::EdgeMessage;
use carat_exchange::clock;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::edge_link::{EdgeLink, LINK_LIMIT};

/// How long the old edge may take to put a broadcast in order, or to send the next part of its history. One that stands
/// still is given up.
const ORDER_TIMEOUT: Duration = Duration::from_secs(5);

/// The old edge, as the new one sees it.
#[derive(Debug, Default)]
pub(in crate::cable) struct Arrivals {
    /// Set while the old edge puts broadcasts in order.
    order: RefCell<Option<Rc<EdgeLink>>>,
    unordered: RefCell<VecDeque<UnorderedBroadcast>>,
    unordered_bytes: Cell<usize>,
    /// Set until the history of the old edge is here, since its last part came. Nothing is delivered, and no client is let
    /// in before.
    behind_since: Cell<Option<Instant>>,
    /// Clients that are away may come from there.
    is_linked: Cell<bool>,
    asked: Cell<u64>,
    answered: Cell<u64>,
    changed: Notify,
}

/// What was broadcast at this edge, until the old one says that it is its turn.
#[derive(Debug)]
pub(in crate::cable) struct UnorderedBroadcast {
    pub(in crate::cable) stream: Box<str>,
    pub(in crate::cable) message: Box<[u8]>,
    since: Instant,
}

impl Arrivals {
    /// The old edge puts broadcasts in order, and says what it has kept if this one `keeps` them, too.
    pub(in crate::cable) fn follow(&self, link: &Rc<EdgeLink>, keeps: bool) {
        *self.order.borrow_mut() = Some(Rc::clone(link));
        self.is_linked.set(true);
        if keeps {
            link.send(&EdgeMessage::Keeps, None);
            self.note_part();
        }
    }

    /// A part of the history has come, and more follow.
    pub(in crate::cable) fn note_part(&self) {
        self.behind_since.set(Some(clock::now()));
    }

    /// Nothing of the history is missing.
    pub(in crate::cable) fn catch_up(&self) {
        self.behind_since.set(None);
        self.changed.notify_waiters();
    }

    /// Whether some of the history is missing.
    pub(in crate::cable) fn are_behind(&self) -> bool {
        self.behind_since.get().is_some()
    }

    /// Waits until nothing of the history is missing.
    pub(in crate::cable) async fn caught_up(&self) {
        self.until(|| !self.are_behind()).await;
    }

    /// Waits until this edge has heard all that clients of the old one have: one of them comes here.
    pub(in crate::cable) async fn hear_all(&self) {
        let Some(link) = self.order.borrow().clone() else {
            return;
        };
        link.send(&EdgeMessage::Ask, None);
        let number = self.asked.get() + 1;
        self.asked.set(number);
        let is_over = || self.answered.get() >= number || self.order.borrow().is_none();
        // One that stands still is given up.
        let _ = timeout(ORDER_TIMEOUT, self.until(is_over)).await;
    }

    async fn until(&self, is_over: impl Fn() -> bool) {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            if is_over() {
                return;
            }
            changed.await;
        }
    }

    /// The old edge has heard what this one asked first.
    pub(in crate::cable) fn note_answer(&self) {
        self.answered.set(self.answered.get() + 1);
        self.changed.notify_waiters();
    }

    /// Whether clients that are away may come from the old edge.
    pub(in crate::cable) fn may_come(&self) -> bool {
        self.is_linked.get()
    }

    /// Whether the old edge puts broadcasts in order.
    pub(in crate::cable) fn are_following(&self) -> bool {
        self.order.borrow().is_some()
    }

    /// Nobody puts broadcasts in order any more.
    pub(in crate::cable) fn end_order(&self) {
        *self.order.borrow_mut() = None;
        self.catch_up();
    }

    /// The old edge is gone.
    pub(in crate::cable) fn end_link(&self) {
        self.is_linked.set(false);
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

    /// What comes next, now that it is its turn.
    pub(in crate::cable) fn next(&self) -> Option<UnorderedBroadcast> {
        let next = self.unordered.borrow_mut().pop_front()?;
        let bytes = next.stream.len() + next.message.len();
        self.unordered_bytes.set(self.unordered_bytes.get() - bytes);
        Some(next)
    }

    /// Gives an old edge up that stands still. Called once a tick.
    pub(in crate::cable) fn tick(&self) {
        let unordered = self.unordered.borrow();
        let since = unordered.front().map(|it| it.since);
        let since = since.or(self.behind_since.get());
        let is_late = since.is_some_and(|since| clock::now() - since > ORDER_TIMEOUT);
        if let Some(link) = self.order.borrow().as_ref().filter(|_| is_late) {
            link.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use super::*;

    #[test]
    fn clients_wait_until_all_is_here_that_the_old_edge_knows() {
        let (arrivals, link) = (Arrivals::default(), Rc::<EdgeLink>::default());
        let cx = &mut Context::from_waker(Waker::noop());
        assert!(pin!(arrivals.caught_up()).poll(cx).is_ready());
        arrivals.follow(&link, true);
        let mut waiting = pin!(arrivals.caught_up());
        assert!(waiting.as_mut().poll(cx).is_pending());
        arrivals.catch_up();
        assert!(waiting.poll(cx).is_ready());
        arrivals.follow(&link, true);
        arrivals.end_order();
        assert!(!arrivals.are_behind());
    }

    #[tokio::test(start_paused = true)]
    async fn who_comes_from_the_old_edge_waits_for_all_that_it_has_said() {
        let (arrivals, link) = (Arrivals::default(), Rc::<EdgeLink>::default());
        arrivals.hear_all().await;
        arrivals.follow(&link, false);
        let cx = &mut Context::from_waker(Waker::noop());
        let (mut first, mut second) = (pin!(arrivals.hear_all()), pin!(arrivals.hear_all()));
        assert!(first.as_mut().poll(cx).is_pending() && second.as_mut().poll(cx).is_pending());
        arrivals.note_answer();
        assert!(first.poll(cx).is_ready() && second.as_mut().poll(cx).is_pending());
        arrivals.end_order();
        assert!(second.poll(cx).is_ready());
        arrivals.follow(&link, false);
        // One that stands still is given up.
        arrivals.hear_all().await;
    }

    #[tokio::test(start_paused = true)]
    async fn an_old_edge_that_does_not_go_on_with_its_history_is_given_up() {
        let (arrivals, link) = (Arrivals::default(), Rc::<EdgeLink>::default());
        arrivals.follow(&link, true);
        for _ in 0..3 {
            tokio::time::advance(ORDER_TIMEOUT).await;
            arrivals.tick();
            assert!(!link.is_over());
            arrivals.note_part();
        }
        tokio::time::advance(ORDER_TIMEOUT * 2).await;
        arrivals.tick();
        assert!(link.is_over());
    }
}
