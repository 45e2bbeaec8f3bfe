use std::cell::Cell;

use carat_lane::LaneSession;
use carat_wire::{Collection, CollectionDue, FullReason, HasteReason};

use crate::simulation::world::World;

/// The garbage collector of a simulated worker. A full collection is due after some requests, and starts by itself
/// after more.
#[derive(Debug)]
pub(crate) struct SimulatedCollector {
    /// `None` for an application that manages its collector itself.
    due_after: Option<u64>,
    /// Requests since the last collection.
    begun: Cell<u64>,
    /// Whether the edge has left the next collection to this worker.
    is_declined: Cell<bool>,
    /// The time until which all threads are stopped, in microseconds.
    stopped_until: Cell<u64>,
}

/// A full collection is due after `due_after` requests. Unless somebody starts it, it begins by itself after this many
/// times as many.
const BOUND: u64 = 4;

impl SimulatedCollector {
    pub(crate) fn new(due_after: Option<u64>) -> SimulatedCollector {
        SimulatedCollector {
            due_after,
            begun: Cell::new(0),
            is_declined: Cell::new(false),
            stopped_until: Cell::new(0),
        }
    }

    /// The time until which all threads are stopped; `None` if they run.
    pub(crate) fn stop(&self, now: u64) -> Option<u64> {
        let until = self.stopped_until.get();
        (now < until).then_some(until)
    }

    /// The application begins a request.
    pub(crate) fn note_begun(&self, request: u32, session: &mut LaneSession, world: &World) {
        let Some(due_after) = self.due_after else {
            return;
        };
        self.begun.set(self.begun.get() + 1);
        if self.begun.get() == due_after {
            session.report_collection_due(CollectionDue {
                reason: FullReason::Oldgen as u8,
                load: world.random.pick(&[20, 60, 100]),
            });
        } else if self.is_declined.get() || self.begun.get() >= due_after * BOUND {
            let micros = world.random.pick(&[300, 30_000]);
            session.report_collection(Collection {
                request,
                micros: u32::try_from(micros).expect("short"),
                full: 1,
                reason: FullReason::Oldgen as u8,
                haste: self.haste() as u8,
            });
            self.begin(micros, world);
        }
    }

    /// The next request starts the collection that is due.
    pub(crate) fn decline(&self) {
        let is_due = self
            .due_after
            .is_some_and(|after| self.begun.get() >= after);
        self.is_declined.set(is_due);
    }

    fn haste(&self) -> HasteReason {
        if self.is_declined.get() {
            HasteReason::Busy
        } else {
            HasteReason::Bound
        }
    }

    /// A collection begins, which takes this many microseconds.
    pub(crate) fn begin(&self, micros: u64, world: &World) {
        world.note("collects", micros, self.begun.get());
        self.begun.set(0);
        self.is_declined.set(false);
        self.stopped_until.set(world.now() + micros);
    }
}
