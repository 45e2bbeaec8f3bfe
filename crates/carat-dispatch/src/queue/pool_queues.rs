use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_log::Log;
use carat_settings::{PoolPriority, PoolSettings, Settings};

use crate::lanes::{Exchange, PoolMembership};
use crate::queue::path_pattern::PathPattern;
use crate::queue::waiting_queue::WaitingQueue;

/// The name of the pool for the requests that belong to no other.
pub const MAIN_POOL: &str = "main";

/// The requests that wait for a lane, each in the queue of its pool.
#[derive(Debug)]
pub(crate) struct PoolQueues {
    /// The pools; the first is for the requests that belong to no other.
    pools: Vec<Pool>,
}

/// A class of requests that together may hold a limited number of lanes.
#[derive(Debug)]
pub(crate) struct Pool {
    name: String,
    paths: Vec<PathPattern>,
    membership: PoolMembership,
    /// How many requests of the pool the lanes may hold; `None` for no bound.
    threads: Option<usize>,
    /// How many requests may wait; `None` for the server's `queue_limit`.
    queue_limit: Option<usize>,
    pub(crate) priority: PoolPriority,
    pub(crate) queue: WaitingQueue,
}

/// The state of a pool, for reports.
#[derive(serde::Serialize)]
pub struct PoolReport {
    name: String,
    running: usize,
    /// How many requests of the pool may run at once; `None` for no bound.
    pub threads: Option<usize>,
    waiting: usize,
    queue_limit: usize,
    /// Requests to which the application has responded.
    served: u64,
    /// The seconds that the served requests waited for a lane, added up.
    queue_time: f64,
    /// Requests that got 503 instead of a lane.
    refused: u64,
}

impl PoolReport {
    /// The requests of the pool, waiting or running.
    pub fn requests(&self) -> usize {
        self.running + self.waiting
    }
}

impl PoolQueues {
    pub(crate) fn new(settings: &Settings) -> PoolQueues {
        let main = PoolSettings {
            name: MAIN_POOL.to_owned(),
            ..PoolSettings::default()
        };
        let pools = std::iter::once(&main).chain(&settings.pool).enumerate();
        PoolQueues {
            pools: pools
                .map(|(index, pool)| Pool::new(index, pool, settings))
                .collect(),
        }
    }

    /// Adopts the options `queue` and `queue_delay` of these settings.
    pub(crate) fn adopt(&self, settings: &Settings) {
        self.pools
            .iter()
            .for_each(|pool| pool.queue.adopt(settings));
    }

    /// Whether there are pools besides the main pool.
    pub(crate) fn are_several(&self) -> bool {
        self.pools.len() > 1
    }

    /// A new request joins the first pool that is for its path.
    pub(crate) fn assign(&self, exchange: &Exchange) {
        let path = exchange.call.parts.uri.path();
        let mut declared = self.pools[1..].iter();
        if let Some(pool) = declared.find(|pool| pool.is_for(path)) {
            // A new request has no pool.
            let _ = exchange.pool.set(pool.membership.clone());
        }
    }

    pub(crate) fn pool(&self, exchange: &Exchange) -> &Pool {
        let index = exchange.pool.get().map_or(0, |pool| pool.index);
        &self.pools[index]
    }

    /// Whether more requests of a pool arrive than the application serves.
    pub(crate) fn is_overloaded(&self) -> bool {
        self.pools.iter().any(|pool| pool.queue.is_overloaded())
    }

    /// How many requests wait for a worker.
    pub(crate) fn waiting(&self) -> usize {
        self.pools.iter().map(|pool| pool.queue.waiting()).sum()
    }

    /// How many requests wait that free threads would serve. Requests beyond the share of their pool do not count.
    pub(crate) fn servable(&self) -> usize {
        let pools = self.pools.iter();
        pools
            .map(|pool| pool.queue.waiting().min(pool.share_left()))
            .sum()
    }

    /// A report for each pool; none if there is only the main pool. `running` is how many requests lanes hold.
    pub(crate) fn reports(&self, running: usize, queue_limit: usize) -> Vec<PoolReport> {
        if !self.are_several() {
            return Vec::new();
        }
        let declared = self.pools[1..].iter().map(|pool| pool.membership.held());
        let others: usize = declared.sum();
        let main = running.saturating_sub(others);
        let report = |pool: &Pool| pool.report(main, queue_limit);
        self.pools.iter().map(report).collect()
    }

    /// Whether a request waits that may get a lane.
    pub(crate) fn has_next(&self) -> bool {
        self.pools.iter().any(Pool::has_next)
    }

    /// Whether a request waits that gets a lane before a new request of this priority.
    pub(crate) fn has_before(&self, priority: PoolPriority) -> bool {
        let mut next = self.pools.iter().filter(|pool| pool.has_next());
        next.any(|pool| pool.priority >= priority)
    }

    /// Removes the next request. It is taken from the pools with the highest priority, and among them from the pool
    /// whose oldest request has waited longest.
    pub(crate) fn take_next(&self) -> Option<Rc<Exchange>> {
        let mut next = self.pools.iter().filter(|pool| pool.has_next());
        let (first, second) = (next.next()?, next.next());
        let Some(second) = second else {
            return first.queue.take_next();
        };
        let mut pools: Vec<&Pool> = [first, second].into_iter().chain(next).collect();
        pools.sort_by_key(|pool| (Reverse(pool.priority), pool.queue.oldest()));
        pools.into_iter().find_map(|pool| pool.queue.take_next())
    }

    /// Returns requests to their queues in their order, as the next ones.
    pub(crate) fn put_back(&self, back: &[Rc<Exchange>]) {
        let indexes: BTreeSet<usize> = back
            .iter()
            .map(|it| it.pool.get().map_or(0, |pool| pool.index))
            .collect();
        for index in indexes {
            let pool = &self.pools[index];
            let own = back
                .iter()
                .filter(|it| std::ptr::eq(self.pool(it), pool))
                .cloned();
            pool.queue.put_back(own.collect());
        }
    }

    /// Removes every request.
    pub(crate) fn take_all(&self) -> impl Iterator<Item = Rc<Exchange>> {
        self.pools.iter().flat_map(|pool| pool.queue.take_all())
    }

    /// Forgets the waits so far: the requests were held, so their waits say nothing about the load.
    pub(crate) fn restart_delay(&self) {
        self.pools
            .iter()
            .for_each(|pool| pool.queue.restart_delay());
    }

    /// The longest mean time that requests of a pool waited for a lane since the last call, and how many wait now.
    /// Requests that are held, or beyond the share of their pool, do not count: more workers would not help.
    /// `wait` is the part of a wait since its argument that asks for more workers.
    pub(crate) fn take_time(
        &self,
        is_held: bool,
        wait: impl Fn(Instant) -> Option<Duration>,
    ) -> (Duration, usize) {
        let times = self.pools.iter().map(|pool| {
            let is_full = !pool.has_share();
            pool.queue.take_time(is_held || is_full, &wait)
        });
        times.fold((Duration::ZERO, 0), |(longest, all), (time, waiting)| {
            (longest.max(time), all + waiting)
        })
    }

    /// Refuses the requests that have waited for longer than `limit`. Called once a tick.
    pub(crate) fn expire(&self, limit: Duration, now: Instant, log: &Log) {
        for pool in &self.pools {
            pool.queue.expire(limit, now, log);
        }
    }

    /// Logs how many requests found a queue full, or gave way to newer ones, since the last call.
    pub(crate) fn report_refused(&self, queue_limit: usize, log: &Log) {
        for pool in &self.pools {
            let name = (pool.membership.index > 0).then_some(pool.name.as_str());
            pool.queue
                .report_refused(name, pool.limit(queue_limit), log);
        }
    }
}

impl Pool {
    fn new(index: usize, pool: &PoolSettings, settings: &Settings) -> Pool {
        Pool {
            name: pool.name.clone(),
            paths: pool.paths.iter().map(|it| PathPattern::new(it)).collect(),
            membership: PoolMembership::new(index),
            threads: pool.threads,
            queue_limit: pool.queue_limit,
            priority: pool.priority,
            queue: WaitingQueue::new(settings),
        }
    }

    fn is_for(&self, path: &str) -> bool {
        self.paths.iter().any(|pattern| pattern.matches(path))
    }

    /// How many requests may wait in this pool; `queue_limit` is the limit of the server.
    pub(crate) fn limit(&self, queue_limit: usize) -> usize {
        self.queue_limit.unwrap_or(queue_limit)
    }

    /// How many more requests of the pool the lanes may hold.
    pub(crate) fn share_left(&self) -> usize {
        self.threads.map_or(usize::MAX, |threads| {
            threads.saturating_sub(self.membership.held())
        })
    }

    pub(crate) fn has_share(&self) -> bool {
        self.share_left() > 0
    }

    fn has_next(&self) -> bool {
        !self.queue.is_empty() && self.has_share()
    }

    fn report(&self, main: usize, queue_limit: usize) -> PoolReport {
        let held = self.membership.held();
        let running = if self.membership.index == 0 {
            main
        } else {
            held
        };
        let totals = self.queue.totals();
        PoolReport {
            name: self.name.clone(),
            running,
            threads: self.threads,
            waiting: self.queue.waiting(),
            queue_limit: self.limit(queue_limit),
            served: totals.served,
            queue_time: totals.queue_time.as_secs_f64(),
            refused: totals.refused,
        }
    }
}

#[cfg(any(test, feature = "fixture"))]
impl PoolQueues {
    /// Calls `of` for each request whose client waits, the next one of each pool first.
    pub(crate) fn list<T>(&self, of: impl Fn(&Exchange) -> T) -> Vec<T> {
        let lists = self.pools.iter().map(|pool| pool.queue.list(&of));
        lists.flatten().collect()
    }

    /// Whether a request whose client waits may get a lane.
    pub(crate) fn has_client(&self) -> bool {
        let mut next = self.pools.iter().filter(|pool| pool.has_share());
        next.any(|pool| pool.queue.waiting() > 0)
    }

    /// For each pool but the main pool: its index, and how many lanes it may hold.
    pub(crate) fn shares(&self) -> Vec<(usize, usize)> {
        let share = |pool: &Pool| (pool.membership.index, pool.threads.unwrap_or(usize::MAX));
        self.pools[1..].iter().map(share).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PendingReply;
    use crate::fixture::{Fixture, locally};
    use carat_exchange::{Call, Refusal, clock};

    fn pool(name: &str, threads: Option<usize>, priority: PoolPriority) -> PoolSettings {
        PoolSettings {
            name: name.to_owned(),
            paths: vec![format!("/{name}*")],
            threads,
            queue_limit: Some(2),
            priority,
        }
    }

    fn dispatch(fixture: &Fixture, paths: &[&str]) -> Vec<PendingReply> {
        let paths = paths.iter();
        paths.map(|path| fixture.dispatch("GET", path)).collect()
    }

    #[test]
    fn a_pool_waits_for_its_own_requests_while_others_begin() {
        locally(|| {
            let slow = pool("slow", Some(1), PoolPriority::Normal);
            let fixture = Fixture::with_pools(&[1, 1, 1], vec![slow]);
            let mut pending = dispatch(&fixture, &["/slow/1", "/slow/2", "/slow/3", "/", "/"]);
            assert_eq!((fixture.load(), fixture.queue().len()), (vec![1, 1, 1], 2));
            let refused = fixture.dispatcher.dispatch(Call::plain("GET", "/slow/4"));
            assert_eq!(refused.err(), Some(Refusal::QueueFull));
            pending.extend(dispatch(&fixture, &["/next"]));

            let slow = fixture.lanes.iter().find(|lane| {
                let in_flight = lane.in_flight();
                in_flight.iter().any(|request| request.pool().is_some())
            });
            fixture.reply(slow.expect("one"));
            assert_eq!(fixture.queue(), ["/next", "/slow/3"]);
            let reports = fixture.dispatcher.queue.reports(3, 10);
            let [main, slow] = [0, 1].map(|index| &reports[index]);
            assert_eq!((main.running, main.waiting), (2, 1));
            assert_eq!((slow.running, slow.waiting), (1, 1));
            assert_eq!((slow.refused, main.refused, pending.len()), (1, 0, 6));
        });
    }

    #[test]
    fn the_request_with_the_highest_priority_is_next_and_then_the_oldest() {
        locally(|| {
            let priorities = [
                ("late", PoolPriority::Low),
                ("same", PoolPriority::Normal),
                ("up", PoolPriority::High),
            ];
            let pools = priorities.map(|(name, priority)| pool(name, None, priority));
            let fixture = Fixture::with_pools(&[1], pools.to_vec());
            let lane = &fixture.lanes[0];
            let pending = dispatch(&fixture, &["/", "/late", "/a", "/same", "/b", "/up"]);
            let mut served = Vec::new();
            while !lane.is_empty() {
                let running = lane
                    .in_flight()
                    .oldest()
                    .map(|it| it.running(lane.tag, clock::now()));
                served.push(running.expect("one").text);
                fixture.reply(lane);
            }
            let found = (served[1].as_str(), pending.len());
            assert_eq!(found, ("GET /up", served.len()));
            assert_eq!(served.last().map(String::as_str), Some("GET /late"));
        });
    }

    #[test]
    fn requests_that_a_lane_loses_return_to_their_pools() {
        locally(|| {
            let slow = pool("slow", Some(2), PoolPriority::Normal);
            let fixture = Fixture::with_pools(&[2], vec![slow]);
            let pending = dispatch(&fixture, &["/slow/1", "/slow/2", "/slow/3", "/a"]);
            assert_eq!(fixture.queue(), ["/a", "/slow/3"]);
            fixture.dispatcher.lane_lost(&fixture.lanes[0], None);
            assert_eq!(fixture.queue(), ["/a", "/slow/1", "/slow/2", "/slow/3"]);
            assert_eq!(fixture.dispatcher.queue.pools[1].share_left(), 2);
            drop(pending);
        });
    }
}
