use std::cell::Cell;

use serde::Serialize;

/// Counts of the requests that the cache was asked about, by their outcomes.
#[derive(Debug, Default)]
pub(super) struct CacheCounts {
    pub(super) hits: Count,
    pub(super) misses: Count,
    pub(super) stale: Count,
    pub(super) collapsed: Count,
    pub(super) revalidated: Count,
}

/// A number that only grows.
#[derive(Debug, Default)]
pub(super) struct Count(Cell<u64>);

/// The contents and the counts of the cache. All sizes are bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CacheReport {
    /// The bytes that the cache may hold.
    pub limit: u64,
    /// The bytes that the cache holds.
    pub used: u64,
    /// Responses.
    pub entries: u64,
    /// Requests that the cache answered, those of `stale` and `collapsed` among them.
    pub hits: u64,
    /// Requests among `hits` that got a response that was not fresh any more.
    pub stale: u64,
    /// Requests among `hits` that got the response to a request that was under way.
    pub collapsed: u64,
    /// Requests that went to the application.
    pub misses: u64,
    /// Requests among `misses` after which the stored response still held.
    pub revalidated: u64,
    /// Responses that had to go because others came.
    pub evictions: u64,
}

impl Count {
    pub(super) fn add(&self) {
        self.0.set(self.0.get() + 1);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.get()
    }
}
