use std::time::Duration;

use serde::Serialize;

/// The full garbage collections of all workers so far, by what they delayed.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct CollectionTotals {
    /// Collections of workers that served no request.
    pub between_requests: CollectionCount,
    /// Collections that the edge ordered although requests of the worker ran.
    pub beside_requests: CollectionCount,
    /// Collections that Ruby began by itself while a request ran.
    pub within_requests: CollectionCount,
    /// Requests that waited for a collection.
    pub waited_requests: u64,
    /// Rests that have ended.
    pub rests: u64,
    /// The seconds that these rests lasted, added up.
    pub rest_seconds: f64,
}

/// A number of collections.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct CollectionCount {
    /// How many there were.
    pub count: u64,
    /// How long they took together.
    pub seconds: f64,
}

impl CollectionCount {
    pub(super) fn add(&mut self, count: u64, took: Duration) {
        self.count += count;
        self.seconds += took.as_secs_f64();
    }
}

impl CollectionTotals {
    /// Counts a rest that is over, and the time that it lasted.
    pub(super) fn end_rest(&mut self, lasted: Duration) {
        self.rests += 1;
        self.rest_seconds += lasted.as_secs_f64();
    }
}
