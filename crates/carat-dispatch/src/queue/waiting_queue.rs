use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_exchange::{Refusal, clock};
use carat_log::{FieldValue, Log};
use carat_settings::{QueueOrder, Settings};

use crate::lanes::{Exchange, LoggedRequest};
use crate::queue::controlled_delay::{ControlledDelay, Overload};
use crate::queue::queue_time::QueueTime;

/// In an overload, the newest request begins first. One in this many requests that begin is the oldest instead, if it
/// has waited for longer than `LASTING_WAIT`. Clients that give up early and ask again always have the newest request,
/// and would leave no worker to the clients that wait.
const OLDEST_ONE_IN: u32 = 16;
/// The divisor of the longest wait in an overload: after that part of it, 2 s by default, a client has waited for long.
const LASTING_WAIT: u32 = 4;

/// The requests that wait for a lane, in the order in which they arrived. The first is served next; in an overload,
/// mostly the last.
#[derive(Debug, Default)]
pub(crate) struct WaitingQueue {
    requests: RefCell<VecDeque<Rc<Exchange>>>,
    time: QueueTime,
    /// Requests that found the queue full since the last report.
    refused: Cell<u64>,
    /// Requests that were refused in an overload since the last report, because newer requests were served first.
    outrun: Cell<u64>,
    totals: Cell<QueueTotals>,
    delay: RefCell<ControlledDelay>,
    /// `queue_delay`; `None` for first in, first out.
    target: Cell<Option<Duration>>,
    /// Requests taken in an overload since the oldest was last taken.
    newest_taken: Cell<u32>,
}

/// Totals of the requests of a pool, with the requests that did not have to wait.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct QueueTotals {
    pub(crate) served: u64,
    /// The time that the served requests waited together.
    pub(crate) queue_time: Duration,
    pub(crate) refused: u64,
}

impl WaitingQueue {
    pub(crate) fn new(settings: &Settings) -> WaitingQueue {
        let queue = WaitingQueue::default();
        queue.adopt(settings);
        queue
    }

    /// Adopts the options `queue` and `queue_delay` of these settings.
    pub(crate) fn adopt(&self, settings: &Settings) {
        let is_adaptive = settings.queue == QueueOrder::Adaptive;
        self.target.set(is_adaptive.then_some(settings.queue_delay));
        self.restart_delay();
    }

    /// Forgets the waits so far: the requests were held, so their waits say nothing about the load.
    pub(crate) fn restart_delay(&self) {
        self.delay.borrow_mut().reset();
    }

    /// Whether more requests arrive than the application serves.
    pub(crate) fn is_overloaded(&self) -> bool {
        self.delay.borrow().overload().is_some()
    }

    /// How many requests wait for a worker.
    pub(crate) fn waiting(&self) -> usize {
        let requests = self.requests.borrow();
        requests.iter().filter(|it| !it.is_cancelled()).count()
    }

    /// The totals since the start.
    pub(crate) fn totals(&self) -> QueueTotals {
        self.totals.get()
    }

    /// The application has responded to a request, which had waited this long for its thread.
    pub(crate) fn note_served(&self, queue_time: Duration) {
        let mut totals = self.totals.get();
        totals.served += 1;
        totals.queue_time += queue_time;
        self.totals.set(totals);
    }

    fn count_refused(&self) {
        let mut totals = self.totals.get();
        totals.refused += 1;
        self.totals.set(totals);
    }

    /// When the request that has waited longest arrived.
    pub(crate) fn oldest(&self) -> Option<Instant> {
        let requests = self.requests.borrow();
        requests.front().map(|front| front.arrived)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.requests.borrow().is_empty()
    }

    /// Adds a request, unless `limit` requests wait. Requests whose clients are gone are removed to make room.
    /// `free_slots` returns how many more requests may wait: the workers would take them, and only their outboxes are
    /// full.
    pub(crate) fn add(
        &self,
        exchange: &Rc<Exchange>,
        limit: usize,
        free_slots: impl FnOnce() -> usize,
    ) -> Result<(), Refusal> {
        let mut requests = self.requests.borrow_mut();
        if requests.len() >= limit && !self.is_overloaded() {
            requests.retain(|exchange| !exchange.is_cancelled());
            if requests.len() >= limit + free_slots() {
                self.refused.set(self.refused.get() + 1);
                self.count_refused();
                return Err(Refusal::QueueFull);
            }
        }
        requests.push_back(Rc::clone(exchange));
        drop(requests);
        if self.target.get().is_some() {
            self.delay.borrow_mut().arrived(exchange.arrived);
            self.refuse_oldest(limit, exchange.arrived);
        }
        Ok(())
    }

    /// In an overload, refuses the oldest requests: the requests beyond `limit`, and the requests that have waited for
    /// long. A request that was already sent to a worker once keeps its place.
    fn refuse_oldest(&self, limit: usize, now: Instant) {
        let Some(overload) = self.delay.borrow().overload() else {
            return;
        };
        while let Some(exchange) = self.take_oldest(limit, overload.max_wait, now) {
            if !exchange.is_cancelled() {
                self.outrun.set(self.outrun.get() + 1);
                self.count_refused();
                self.delay.borrow_mut().refused(now);
                let retry_after = overload.retry_after(now);
                exchange.settle(Err(Refusal::Overloaded { retry_after }));
            }
        }
    }

    fn take_oldest(&self, limit: usize, max_wait: Duration, now: Instant) -> Option<Rc<Exchange>> {
        let mut requests = self.requests.borrow_mut();
        let index = requests.iter().position(|it| !it.has_been_sent())?;
        let is_due = requests.len() > limit || requests[index].waited(now) > max_wait;
        is_due.then(|| requests.remove(index)).flatten()
    }

    /// Returns requests to the queue in their order, where they are taken next: at its front, or at its back in an
    /// overload.
    pub(crate) fn put_back(&self, back: Vec<Rc<Exchange>>) {
        let is_overloaded = self.is_overloaded();
        let mut requests = self.requests.borrow_mut();
        for exchange in back.into_iter().rev() {
            if is_overloaded {
                requests.push_back(exchange);
            } else {
                requests.push_front(exchange);
            }
        }
    }

    /// Removes the next request whose client waits.
    pub(crate) fn take_next(&self) -> Option<Rc<Exchange>> {
        self.take(clock::now())
    }

    fn take(&self, now: Instant) -> Option<Rc<Exchange>> {
        let overload = self.delay.borrow().overload();
        let mut requests = self.requests.borrow_mut();
        while requests.front().is_some_and(|it| it.is_cancelled()) {
            requests.pop_front();
        }
        let waited = requests.front().map(|front| front.waited(now));
        let next = || match overload {
            Some(overload) if !self.is_turn_of_oldest(waited, overload) => requests.pop_back(),
            _ => requests.pop_front(),
        };
        std::iter::from_fn(next).find(|exchange| !exchange.is_cancelled())
    }

    /// Whether the oldest request, which has `waited` this long, is next although there is an overload.
    fn is_turn_of_oldest(&self, waited: Option<Duration>, overload: Overload) -> bool {
        let taken = self.newest_taken.get() + 1;
        let lasts = waited.is_some_and(|waited| waited > overload.max_wait / LASTING_WAIT);
        let is_turn = lasts && taken >= OLDEST_ONE_IN;
        self.newest_taken
            .set(if is_turn { 0 } else { taken.min(OLDEST_ONE_IN) });
        is_turn
    }

    /// Removes every request.
    pub(crate) fn take_all(&self) -> VecDeque<Rc<Exchange>> {
        self.requests.take()
    }

    /// A request got a lane. `asks` is the part of its wait that asks for more workers; `None` if it says nothing of that.
    pub(crate) fn note_begun(&self, exchange: &Exchange, asks: Option<Duration>, now: Instant) {
        let wait = exchange.waited(now);
        if let Some(asks) = asks {
            self.time.note(asks);
        }
        let Some(target) = self.target.get() else {
            return;
        };
        if self.is_empty() {
            self.restart_delay();
        } else {
            let waiting = self.requests.borrow().len();
            self.delay.borrow_mut().begun(wait, waiting, target, now);
            self.refuse_oldest(usize::MAX, now);
        }
    }

    /// The mean time that requests waited for a lane since the last call, and how many wait now. Requests that are
    /// held do not count: more workers would not help. `wait` is the part of a wait since its argument that asks for more.
    pub(crate) fn take_time(
        &self,
        is_held: bool,
        wait: impl Fn(Instant) -> Option<Duration>,
    ) -> (Duration, usize) {
        if is_held {
            return (self.time.take(None), 0);
        }
        let requests = self.requests.borrow();
        let front = requests.front().and_then(|front| wait(front.arrived));
        (self.time.take(front), requests.len())
    }

    /// Refuses the requests that have waited for longer than `limit`. Called once a tick.
    pub(crate) fn expire(&self, limit: Duration, now: Instant, log: &Log) {
        let mut expired = Vec::new();
        let mut requests = self.requests.borrow_mut();
        // Requests whose clients are gone are removed, too: their bodies may hold open files.
        requests.retain(|exchange| {
            let is_expired = exchange.waited(now) > limit && !exchange.is_cancelled();
            if is_expired {
                expired.push(Rc::clone(exchange));
            }
            !is_expired && !exchange.is_cancelled()
        });
        drop(requests);
        for exchange in expired {
            self.count_refused();
            log.warn(
                "request waited too long",
                &[("request", &LoggedRequest(&exchange))],
            );
            exchange.settle(Err(Refusal::QueueTimeout));
        }
    }

    /// Logs how many requests found the queue full, or gave way to newer ones, since the last call. `pool` is named
    /// unless it is the main pool.
    pub(crate) fn report_refused(&self, pool: Option<&str>, queue_limit: usize, log: &Log) {
        let warn = |message, refused: u64, (name, number): (&'static str, usize)| {
            let pool = pool.as_ref().map(|it| ("pool", it as &dyn FieldValue));
            let numbers: [(&str, &dyn FieldValue); 2] = [("refused", &refused), (name, &number)];
            let fields: Vec<_> = pool.into_iter().chain(numbers).collect();
            log.warn(message, &fields);
        };
        let outrun = self.outrun.take();
        if outrun > 0 {
            warn("overloaded", outrun, ("waiting", self.waiting()));
        }
        let refused = self.refused.take();
        if refused > 0 {
            warn("queue full", refused, ("queue_limit", queue_limit));
        }
    }
}

#[cfg(any(test, feature = "fixture"))]
impl WaitingQueue {
    /// Calls `of` for each request whose client waits, the next one first.
    pub(crate) fn list<T>(&self, of: impl Fn(&Exchange) -> T) -> Vec<T> {
        let requests = self.requests.borrow();
        let waiting = requests.iter().filter(|it| !it.is_cancelled());
        waiting.map(|it| of(it)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

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
    }

    /// A queue that sees an overload: for a second, requests have begun after a wait of a second each.
    fn overloaded(requests: &[(Rc<Exchange>, PendingReply)]) -> WaitingQueue {
        let (mut settings, start) = (Settings::plain(), Instant::now());
        (settings.queue, settings.queue_delay) = (QueueOrder::Adaptive, Duration::from_millis(500));
        let queue = WaitingQueue::new(&settings);
        for (exchange, _) in requests {
            queue.add(exchange, 100, || 0).expect("room");
        }
        for turn in 1..=160 {
            queue.add(&requests[0].0, 999, || 0).expect("room");
            queue.add(&requests[0].0, 999, || 0).expect("room");
            queue.take_next();
            let now = start + Duration::from_secs(1) + Duration::from_millis(4) * turn;
            queue.note_begun(&requests[0].0, None, now);
        }
        assert!(queue.is_overloaded());
        queue
    }

    fn retry_after(pending: PendingReply) -> Option<u8> {
        let cx = &mut Context::from_waker(Waker::noop());
        match pin!(pending).poll(cx) {
            Poll::Ready(Err(Refusal::Overloaded { retry_after })) => Some(retry_after),
            _ => None,
        }
    }

    #[test]
    fn in_an_overload_the_newest_is_next_and_the_oldest_is_refused() {
        let queue = overloaded(&["/1", "/2"].map(request));
        let mut newer: Vec<_> = (0..40).map(|at| request(&format!("/new/{at}"))).collect();
        for (exchange, _) in &newer {
            assert_eq!(queue.add(exchange, 30, || 0), Ok(()));
        }
        let next = queue.take_next().expect("there");
        let found = (path(&next), queue.waiting());
        assert_eq!(found, ("/new/39".to_owned(), 29));
        assert_eq!(retry_after(newer.remove(0).1), Some(1));
        assert_eq!(retry_after(newer.pop().expect("there").1), None);
    }

    #[test]
    fn in_an_overload_a_request_is_refused_once_it_has_waited_for_long() {
        let queue = overloaded(&["/1", "/2"].map(request));
        let (mut old, new) = (Exchange::new(Call::plain("GET", "/old")), request("/new"));
        old.arrived = new
            .0
            .arrived
            .checked_sub(Duration::from_secs(9))
            .expect("a time");
        let old = Rc::new(old);
        let pending = PendingReply::new(Rc::clone(&old));
        queue.put_back(vec![old]);
        queue.requests.borrow_mut().rotate_right(1);
        queue.add(&new.0, 999, || 0).expect("room");
        assert!(retry_after(pending).is_some() && retry_after(new.1).is_none());
    }

    /// Clients of one address: greedy ones ask again at once, with or without a response. Honest ones ask at most ten
    /// times a second, and give up after 4 s.
    struct Crowd {
        queue: WaitingQueue,
        start: Instant,
        /// The least time that greedy clients wait, in milliseconds; the longest is twice that.
        patience: Option<u32>,
        clients: Vec<CrowdClient>,
        /// When each thread is free again, and the request that it serves.
        threads: [Option<(u32, Rc<Exchange>)>; 2],
    }

    struct CrowdClient {
        is_honest: bool,
        asks_at: u32,
        asked: u32,
        served: u32,
        waits: Option<(u32, Rc<Exchange>, PendingReply)>,
    }

    impl Crowd {
        const SERVICE: u32 = 50;

        fn new(greedy: usize, patience: Option<u32>) -> Crowd {
            let mut settings = Settings::plain();
            settings.queue = QueueOrder::Adaptive;
            settings.queue_delay = Duration::from_millis(500);
            let client = |index| CrowdClient {
                is_honest: index == greedy,
                asks_at: u32::try_from(index).expect("few") % 7,
                asked: 0,
                served: 0,
                waits: None,
            };
            Crowd {
                queue: WaitingQueue::new(&settings),
                start: Instant::now(),
                patience,
                clients: (0..=greedy).map(client).collect(),
                threads: [None, None],
            }
        }

        /// Runs for this many milliseconds.
        fn run(mut self, milliseconds: u32) -> Vec<CrowdClient> {
            for at in 0..milliseconds {
                self.complete(at);
                self.ask(at);
                self.begin(at);
            }
            self.clients
        }

        fn now(&self, at: u32) -> Instant {
            self.start + Duration::from_millis(at.into())
        }

        fn complete(&mut self, at: u32) {
            for thread in &mut self.threads {
                if let Some((_, served)) = thread.take_if(|(until, _)| *until <= at) {
                    served.settle(Err(Refusal::Stopping));
                }
            }
            for (index, client) in (0..).zip(&mut self.clients) {
                let patience = match self.patience {
                    _ if client.is_honest => 4000,
                    Some(least) => least + (index * 37 + client.asked * 97) % least,
                    None => u32::MAX,
                };
                let over = client.waits.take_if(|(since, exchange, _)| {
                    exchange.is_settled() || at - *since > patience
                });
                if let Some((since, _, pending)) = over {
                    client.served += u32::from(is_served(pending));
                    let pause = if client.is_honest { 100 } else { 0 };
                    client.asks_at = (since + pause).max(at + 1);
                }
            }
        }

        fn ask(&mut self, at: u32) {
            let now = self.now(at);
            for client in &mut self.clients {
                if client.waits.is_none() && client.asks_at == at {
                    let mut exchange = Exchange::new(Call::plain("GET", "/"));
                    exchange.arrived = now;
                    let exchange = Rc::new(exchange);
                    let pending = PendingReply::new(Rc::clone(&exchange));
                    client.asked += 1;
                    // The newest is admitted, whatever waits.
                    let _ = self.queue.add(&exchange, 1024, || 0);
                    client.waits = Some((at, exchange, pending));
                }
            }
        }

        fn begin(&mut self, at: u32) {
            let now = self.now(at);
            while let Some(free) = self.threads.iter().position(Option::is_none) {
                let Some(exchange) = self.queue.take(now) else {
                    return;
                };
                self.queue.note_begun(&exchange, None, now);
                self.threads[free] = Some((at + Self::SERVICE, exchange));
            }
        }
    }

    /// Whether the request got a response: here, a refusal that is not the queue's.
    fn is_served(pending: PendingReply) -> bool {
        let cx = &mut Context::from_waker(Waker::noop());
        matches!(pin!(pending).poll(cx), Poll::Ready(Err(Refusal::Stopping)))
    }

    #[test]
    fn who_asks_again_at_once_gets_no_more_than_an_honest_client() {
        for greedy in [10, 40, 60, 100, 200, 400] {
            let mut clients = Crowd::new(greedy, None).run(24_000);
            let honest = clients.pop().expect("the last one");
            let others: u32 = clients.iter().map(|client| client.served).sum();
            let fair = f64::from(others) / f64::from(u32::try_from(greedy).expect("few"));
            let (served, asked) = (f64::from(honest.served), f64::from(honest.asked));
            assert!(served >= 0.9 * fair.floor(), "{greedy}: {served}, {fair}");
            assert!(served >= 0.5 * asked, "{greedy}: {served} of {asked}");
            assert!(
                others + honest.served >= 24 * 40 * 9 / 10,
                "{greedy}: {others}"
            );
        }
    }

    #[test]
    fn who_gives_up_and_asks_again_at_once_leaves_something_to_who_waits() {
        for (greedy, patience) in [
            (100, 550),
            (200, 550),
            (100, 1000),
            (200, 1000),
            (400, 1000),
        ] {
            let mut clients = Crowd::new(greedy, Some(patience)).run(24_000);
            let honest = clients.pop().expect("the last one");
            let (served, asked) = (honest.served, honest.asked);
            assert!(served * 10 >= asked * 8, "{greedy}: {served} of {asked}");
        }
    }

    #[test]
    fn in_an_overload_a_request_that_was_sent_before_is_next_and_stays() {
        let queue = overloaded(&["/1", "/2"].map(request));
        let sent = ["/sent/1", "/sent/2"].map(request);
        sent[0].0.retried.set(true);
        sent[1].0.resent.set(true);
        queue.put_back(sent.iter().map(|it| Rc::clone(&it.0)).collect());
        assert_eq!(path(&queue.take_next().expect("there")), "/sent/1");
        queue.put_back(vec![Rc::clone(&sent[0].0)]);
        let newer: Vec<_> = (0..90).map(|_| request("/new")).collect();
        for (exchange, _) in &newer {
            assert_eq!(queue.add(exchange, 100, || 0), Ok(()));
        }
        assert_eq!(
            queue
                .list(path)
                .iter()
                .filter(|it| it.starts_with("/sent"))
                .count(),
            2
        );
    }

    #[test]
    fn an_overload_ends_with_the_last_request_that_waits() {
        let requests = ["/1", "/2"].map(request);
        let queue = overloaded(&requests);
        while let Some(exchange) = queue.take_next() {
            queue.note_begun(&exchange, None, Instant::now());
        }
        assert!(!queue.is_overloaded());
    }
}
