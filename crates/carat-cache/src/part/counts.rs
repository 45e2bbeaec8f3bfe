use std::cell::Cell;

/// Counts of the requests that the cache was asked about, by their outcomes.
#[derive(Debug, Default)]
pub(super) struct CacheCounts {
    /// Requests that the cache answered, those of `stale` and `collapsed` among them.
    pub(super) hits: Count,
    /// Requests that went to the application.
    pub(super) misses: Count,
    /// Requests that got a response that was not fresh any more.
    pub(super) stale: Count,
    /// Requests that got the response to a request that was under way.
    pub(super) collapsed: Count,
    /// Requests among `misses` after which the stored response still held.
    pub(super) revalidated: Count,
}

/// A number that only grows.
#[derive(Debug, Default)]
pub(super) struct Count(Cell<u64>);

impl Count {
    pub(super) fn add(&self) {
        self.0.set(self.0.get() + 1);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.get()
    }
}
