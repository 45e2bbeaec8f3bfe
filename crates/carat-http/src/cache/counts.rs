use std::cell::Cell;

use serde::Serialize;

/// What has become of the requests that the cache was asked about.
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

/// What the cache holds and did. All sizes are bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct CacheReport {
    pub(crate) limit: u64,
    pub(crate) used: u64,
    /// Responses.
    pub(crate) entries: u64,
    /// Requests that the cache answered, those of the next two among them.
    pub(crate) hits: u64,
    /// Of these, with a response that was not fresh any more.
    pub(crate) stale: u64,
    /// Of these, with the response to a request that was under way.
    pub(crate) collapsed: u64,
    /// Requests that went to the application.
    pub(crate) misses: u64,
    /// Of these, those after which the stored response still held.
    pub(crate) revalidated: u64,
    /// Responses that had to go because others came.
    pub(crate) evictions: u64,
}

impl Count {
    pub(super) fn add(&self) {
        self.0.set(self.0.get() + 1);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.get()
    }
}
