//! A dispatcher with lanes whose workers do what a test says.

use std::rc::Rc;
use std::time::Instant;

use carat_policy::DescriptorBudget;
use tokio::sync::mpsc::UnboundedReceiver;

#[cfg(test)]
pub(crate) use self::ignored::ignored_stream;
use super::dispatcher::Dispatcher;
use crate::lanes::{Exchange, Lane, LaneEvent, LaneEvents, PendingReply, WorkerRequests};
use carat_exchange::{Call, ClientMemory};
use carat_log::Log;
use carat_settings::{PoolSettings, Settings};

const BUDGET: DescriptorBudget = DescriptorBudget {
    connections: 10,
    replies: 10,
    further_replies: 1,
    closing: 0,
    spools: 10,
};

/// A dispatcher of some workers, and the events of the lanes.
pub struct Fixture {
    /// The dispatcher.
    pub dispatcher: Rc<Dispatcher>,
    /// The lanes of all workers.
    pub lanes: Vec<Rc<Lane>>,
    /// The events that the supervisor would hear of.
    pub events: UnboundedReceiver<LaneEvent>,
}

impl Fixture {
    /// Opens a lane of each of these capacities.
    pub fn new(capacities: &[u16]) -> Fixture {
        Fixture::with(Settings::plain(), unshared(capacities))
    }

    /// Opens a lane of each of these capacities, with a queue.
    pub fn with_queue(capacities: &[u16]) -> Fixture {
        let mut settings = Settings::plain();
        settings.queue_limit = 10;
        Fixture::with(settings, unshared(capacities))
    }

    /// Opens a lane of each of these capacities, with pools.
    pub fn with_pools(capacities: &[u16], pool: Vec<PoolSettings>) -> Fixture {
        let (queue_limit, plain) = (10, Settings::plain());
        let settings = Settings {
            queue_limit,
            pool,
            ..plain
        };
        Fixture::with(settings, unshared(capacities))
    }

    /// Opens a lane for each thread of some workers, and returns the lanes of each worker.
    pub fn with_threads(workers: u32, threads: u16) -> (Fixture, Vec<Vec<Rc<Lane>>>) {
        let worker = |number| {
            let load = WorkerRequests::default();
            let lane = |thread| Lane::of_thread(number, thread, 1, &load);
            (0..threads).map(lane).collect()
        };
        let workers: Vec<Vec<_>> = (1..=workers).map(worker).collect();
        let mut settings = Settings::plain();
        settings.queue_limit = 10;
        (Fixture::with(settings, workers.concat()), workers)
    }

    fn with(settings: Settings, lanes: Vec<Rc<Lane>>) -> Fixture {
        let settings = Rc::new(settings);
        let log = Rc::new(Log::open(&settings).expect("a log"));
        let (sender, events) = LaneEvents::channel();
        let memory = ClientMemory::new(u64::MAX);
        let dispatcher = Dispatcher::new(&settings, &log, sender, &BUDGET, memory);
        for lane in &lanes {
            dispatcher.lane_opened(lane);
        }
        Fixture {
            dispatcher,
            lanes,
            events,
        }
    }

    /// Sends a request to the application.
    ///
    /// # Panics
    ///
    /// If the request is refused.
    pub fn dispatch(&self, method: &str, path: &str) -> PendingReply {
        let pending = self.dispatcher.dispatch(Call::plain(method, path));
        pending.expect("admitted")
    }

    /// The worker replies to what this lane holds.
    pub fn reply(&self, lane: &Rc<Lane>) {
        let now = Instant::now();
        for id in lane.ids() {
            lane.release(id, now);
        }
        self.dispatcher.refill(lane, now);
    }

    /// How many requests each lane holds.
    pub fn load(&self) -> Vec<usize> {
        self.lanes
            .iter()
            .map(|lane| lane.in_flight().len())
            .collect()
    }

    /// The paths of the requests in the queue, the next one first.
    pub fn queue(&self) -> Vec<String> {
        let path = |exchange: &Exchange| exchange.call.parts.uri.path().to_owned();
        self.dispatcher.queue.list(path)
    }
}

/// A lane of each of these capacities, for a worker each.
fn unshared(capacities: &[u16]) -> Vec<Rc<Lane>> {
    let lanes = (1..).zip(capacities);
    lanes
        .map(|(worker, capacity)| Lane::unshared(worker, *capacity))
        .collect()
}

/// Runs a test that may spawn tasks.
pub fn locally(test: impl FnOnce()) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    let runtime = runtime.expect("a runtime");
    tokio::task::LocalSet::new().block_on(&runtime, async { test() });
}

#[cfg(test)]
mod ignored {
    use carat_exchange::{
        ClientMemory, MemoryReservation, ReplySender, ReplySource, ReplyStream, StreamCredit,
        reply_stream,
    };

    /// A worker that ignores how its streamed response is read.
    struct IgnoringSource;

    impl ReplySource for IgnoringSource {
        fn grant(&self, _bytes: u32) {}
        fn abandoned(&self) {}
    }

    /// The two ends of a streamed response of a worker that ignores how it is read.
    pub(crate) fn ignored_stream() -> (ReplySender, ReplyStream) {
        let memory = ClientMemory::new(u64::MAX);
        let held = MemoryReservation::of(&memory.account());
        reply_stream(Box::new(IgnoringSource), held, StreamCredit::of(&memory))
    }
}
