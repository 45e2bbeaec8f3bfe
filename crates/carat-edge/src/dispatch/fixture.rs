//! A dispatcher with lanes whose workers do what a test says.

use std::rc::Rc;

use carat_policy::DescriptorBudget;
use tokio::sync::mpsc::UnboundedReceiver;

use super::dispatcher::Dispatcher;
use super::exchange::{Exchange, PendingReply};
use super::lane::Lane;
use super::lane_event::{LaneEvent, LaneEvents};
use crate::exchange::{
    Call, ClientMemory, MemoryReservation, ReplySender, ReplySource, ReplyStream, reply_stream,
};
use crate::log::Log;
use crate::settings::Settings;

const BUDGET: DescriptorBudget = DescriptorBudget {
    connections: 10,
    replies: 10,
    spools: 10,
};

/// A worker that ignores how its streamed response is read.
struct IgnoringSource;

impl ReplySource for IgnoringSource {
    fn consumed(&self, _bytes: u32) {}
    fn abandoned(&self) {}
}

/// The two ends of a streamed response of such a worker.
pub(super) fn ignored_stream() -> (ReplySender, ReplyStream) {
    let memory = ClientMemory::new(u64::MAX);
    let held = MemoryReservation::of(&memory.account());
    reply_stream(Box::new(IgnoringSource), held)
}

/// A dispatcher of workers with one lane each, and the events of the lanes.
pub(super) struct Fixture {
    pub(super) dispatcher: Rc<Dispatcher>,
    pub(super) lanes: Vec<Rc<Lane>>,
    pub(super) events: UnboundedReceiver<LaneEvent>,
}

impl Fixture {
    /// Opens a lane of each of these capacities.
    pub(super) fn new(capacities: &[u16]) -> Fixture {
        Fixture::with(Settings::plain(), capacities)
    }

    /// The same with the option `reload`.
    pub(super) fn reloading(capacities: &[u16]) -> Fixture {
        let mut settings = Settings::plain();
        (settings.reload, settings.queue_limit) = (true, 10);
        Fixture::with(settings, capacities)
    }

    fn with(settings: Settings, capacities: &[u16]) -> Fixture {
        let settings = Rc::new(settings);
        let log = Rc::new(Log::open(&settings).expect("a log"));
        let (sender, events) = LaneEvents::channel();
        let memory = ClientMemory::new(u64::MAX);
        let dispatcher = Dispatcher::new(&settings, &log, sender, &BUDGET, memory);
        let lanes: Vec<_> = (1..)
            .zip(capacities)
            .map(|(worker, capacity)| Lane::unshared(worker, *capacity))
            .collect();
        for lane in &lanes {
            dispatcher.lane_opened(lane);
        }
        Fixture {
            dispatcher,
            lanes,
            events,
        }
    }

    pub(super) fn dispatch(&self, method: &str, path: &str) -> PendingReply {
        let pending = self.dispatcher.dispatch(Call::plain(method, path));
        pending.expect("admitted")
    }

    /// How many requests each lane holds.
    pub(super) fn load(&self) -> Vec<usize> {
        self.lanes
            .iter()
            .map(|lane| lane.in_flight().len())
            .collect()
    }

    /// The paths of the requests in the queue, the next one first.
    pub(super) fn queue(&self) -> Vec<String> {
        let queue = self.dispatcher.queue.borrow();
        let path = |exchange: &Rc<Exchange>| exchange.call.parts.uri.path().to_owned();
        queue.iter().map(path).collect()
    }
}

/// Runs a test that may spawn tasks.
pub(super) fn locally(test: impl FnOnce()) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    let runtime = runtime.expect("a runtime");
    tokio::task::LocalSet::new().block_on(&runtime, async { test() });
}
