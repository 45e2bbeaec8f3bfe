use std::cell::Cell;

/// Counts of the requests that the cache was asked about, by their outcomes.
#[derive(Debug, Default)]
pub(super) struct CacheCounts {
    /// Requests that the cache answered, including those in `collapsed`.
    pub(super) hits: Count,
    /// Requests that went to the application, with those that fetch a response in the background.
    pub(super) misses: Count,
    /// Requests that got a response that was not fresh any more. After a failure of the
    /// application, such a request counts in `misses`, otherwise in `hits`.
    pub(super) stale: Count,
    /// Requests that have waited for another request, and got its response.
    pub(super) collapsed: Count,
    /// Requests among `misses` whose stored response the application has confirmed.
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
