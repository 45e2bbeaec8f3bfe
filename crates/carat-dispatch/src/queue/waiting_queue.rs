use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_exchange::{Refusal, clock};
use carat_log::Log;

use crate::lanes::{Exchange, LoggedRequest};
use crate::queue::queue_time::QueueTime;

/// The requests that wait for a lane, in the order in which they arrived.
#[derive(Debug, Default)]
pub struct WaitingQueue {
    requests: RefCell<VecDeque<Rc<Exchange>>>,
    time: QueueTime,
    /// Requests that found the queue full since the last report.
    refused: Cell<u64>,
}

impl WaitingQueue {
    /// How many requests wait for a worker.
    pub fn waiting(&self) -> usize {
        let requests = self.requests.borrow();
        requests.iter().filter(|it| !it.is_cancelled()).count()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.requests.borrow().is_empty()
    }

    /// Whether the client of a request that is meant still waits.
    pub(crate) fn has(&self, is_meant: impl Fn(&Exchange) -> bool) -> bool {
        let requests = self.requests.borrow();
        let mut waiting = requests.iter().filter(|it| !it.is_cancelled());
        waiting.any(|it| is_meant(it))
    }

    /// How many requests are meant, those of clients that are gone included.
    pub(crate) fn count(&self, is_meant: impl Fn(&Exchange) -> bool) -> usize {
        let requests = self.requests.borrow();
        requests.iter().filter(|it| is_meant(it)).count()
    }

    /// Adds a request, unless `limit` of them wait. Requests whose clients are gone make room, and `vacancies` says how
    /// many more may wait because a worker has a place for them, and only its outbox is full.
    pub(crate) fn add(
        &self,
        exchange: &Rc<Exchange>,
        limit: usize,
        vacancies: impl FnOnce() -> usize,
    ) -> Result<(), Refusal> {
        let mut requests = self.requests.borrow_mut();
        if requests.len() >= limit {
            requests.retain(|exchange| !exchange.is_cancelled());
            if requests.len() >= limit + vacancies() {
                self.refused.set(self.refused.get() + 1);
                return Err(Refusal::QueueFull);
            }
        }
        requests.push_back(Rc::clone(exchange));
        Ok(())
    }

    /// Returns requests to the front of the queue in their order.
    pub(crate) fn put_back(&self, back: Vec<Rc<Exchange>>) {
        let mut requests = self.requests.borrow_mut();
        for exchange in back.into_iter().rev() {
            requests.push_front(exchange);
        }
    }

    /// Removes the next request whose client waits.
    pub(crate) fn take_next(&self) -> Option<Rc<Exchange>> {
        let mut requests = self.requests.borrow_mut();
        std::iter::from_fn(|| requests.pop_front()).find(|exchange| !exchange.is_cancelled())
    }

    /// Removes the next request that is meant and whose client waits.
    pub(crate) fn take_meant(&self, is_meant: impl Fn(&Exchange) -> bool) -> Option<Rc<Exchange>> {
        let mut requests = self.requests.borrow_mut();
        let mut waiting = requests.iter();
        let index = waiting.position(|it| is_meant(it) && !it.is_cancelled())?;
        requests.remove(index)
    }

    /// Removes every request.
    pub(crate) fn take_all(&self) -> VecDeque<Rc<Exchange>> {
        self.requests.take()
    }

    /// A request got a lane.
    pub(crate) fn note_begun(&self, exchange: &Exchange, now: Instant) {
        self.time.note(exchange.waited(now));
    }

    /// The mean time that requests waited for a lane since the last call, and how many wait now. Those that are held
    /// do not count: more workers would not help.
    pub(crate) fn take_time(&self, is_held: bool) -> (Duration, usize) {
        if is_held {
            return (self.time.take(None), 0);
        }
        let requests = self.requests.borrow();
        let front = requests.front().map(|front| front.waited(clock::now()));
        (self.time.take(front), requests.len())
    }

    /// Refuses the requests that have waited for longer than `limit`. Called once a tick.
    pub(crate) fn expire(&self, limit: Duration, now: Instant, log: &Log) {
        let mut expired = Vec::new();
        let mut requests = self.requests.borrow_mut();
        // Their bodies may be files, and too many may be open.
        requests.retain(|exchange| !exchange.is_cancelled());
        while requests.front().is_some_and(|it| it.waited(now) > limit) {
            expired.extend(requests.pop_front());
        }
        drop(requests);
        for exchange in expired {
            log.warn(
                "request waited too long",
                &[("request", &LoggedRequest(&exchange))],
            );
            exchange.settle(Err(Refusal::QueueTimeout));
        }
    }

    /// Logs how many requests found the queue full since the last call.
    pub(crate) fn report_refused(&self, limit: usize, log: &Log) {
        let refused = self.refused.take();
        if refused > 0 {
            log.warn(
                "queue full",
                &[("refused", &refused), ("queue_limit", &limit)],
            );
        }
    }
}

#[cfg(any(test, feature = "fixture"))]
impl WaitingQueue {
    /// What is known of each request whose client waits, the next one first.
    pub(crate) fn list<T>(&self, of: impl Fn(&Exchange) -> T) -> Vec<T> {
        let requests = self.requests.borrow();
        let waiting = requests.iter().filter(|it| !it.is_cancelled());
        waiting.map(|it| of(it)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PendingReply;
    use carat_exchange::Call;

    fn request(path: &str) -> (Rc<Exchange>, PendingReply) {
        let exchange = Rc::new(Exchange::new(Call::plain("GET", path)));
        (Rc::clone(&exchange), PendingReply::new(exchange))
    }

    fn path(exchange: &Exchange) -> String {
        exchange.call.parts.uri.path().to_owned()
    }

    #[test]
    fn a_request_whose_client_is_gone_makes_room() {
        let queue = WaitingQueue::default();
        let [first, second, third, fourth] = ["/1", "/2", "/3", "/4"].map(request);
        assert_eq!(queue.add(&first.0, 1, || 0), Ok(()));
        assert_eq!(queue.add(&second.0, 1, || 0), Err(Refusal::QueueFull));
        drop(first);
        assert_eq!(queue.add(&third.0, 1, || 0), Ok(()));
        assert_eq!(queue.add(&fourth.0, 1, || 1), Ok(()));
        assert_eq!(queue.list(path), ["/3", "/4"]);
    }

    #[test]
    fn requests_that_return_are_first_and_in_their_order() {
        let queue = WaitingQueue::default();
        let requests = ["/1", "/2", "/3"].map(request);
        queue.add(&requests[2].0, 9, || 0).expect("room");
        let back = requests[..2].iter().map(|it| Rc::clone(&it.0));
        queue.put_back(back.collect());
        assert_eq!(queue.list(path), ["/1", "/2", "/3"]);
        let meant = queue.take_meant(|it| path(it) == "/2").expect("there");
        assert_eq!((path(&meant), queue.waiting()), ("/2".to_owned(), 2));
    }
}
