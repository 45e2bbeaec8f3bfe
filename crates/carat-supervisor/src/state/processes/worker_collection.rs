use std::time::{Duration, Instant};

/// How long a worker that exceeds its memory has to collect its garbage. The worker may have to finish its requests
/// first, and to wait for the rests of other workers. Meanwhile its memory may grow further.
const COLLECT_WITHIN: Duration = Duration::from_secs(1);

/// A worker whose memory is too large again within this time after a collection is replaced.
const HELPS_FOR: Duration = Duration::from_secs(60);

/// The last full garbage collection of a worker that would have been replaced for its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WorkerCollection {
    /// The worker was never told to collect for this reason.
    #[default]
    Never,
    /// The worker was told to collect at this time.
    Ordered(Instant),
    /// The worker reported at this time that it has collected.
    Done(Instant),
}

/// What to do with a worker whose memory is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectionAdvice {
    /// Tell the worker to collect its garbage.
    Collect,
    /// Wait for the collection, or for a memory reading after it.
    Wait,
    /// Replace the worker: a collection has not helped, or did not happen in time.
    Replace,
}

impl WorkerCollection {
    /// What to do with a worker whose memory, when it was read at `read_at`, was too large.
    pub fn advise(self, read_at: Instant, now: Instant) -> CollectionAdvice {
        let since = |then: Instant| now.saturating_duration_since(then);
        match self {
            WorkerCollection::Never => CollectionAdvice::Collect,
            WorkerCollection::Ordered(at) if since(at) < COLLECT_WITHIN => CollectionAdvice::Wait,
            WorkerCollection::Done(at) if since(at) >= HELPS_FOR => CollectionAdvice::Collect,
            WorkerCollection::Done(at) if read_at <= at => CollectionAdvice::Wait,
            WorkerCollection::Ordered(_) | WorkerCollection::Done(_) => CollectionAdvice::Replace,
        }
    }

    /// Notes that the worker has collected. Only a collection that was ordered here counts.
    pub fn done(&mut self, now: Instant) {
        if let WorkerCollection::Ordered(_) = self {
            *self = WorkerCollection::Done(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_worker_that_is_too_large_collects_and_is_replaced_if_the_next_reading_is_no_better() {
        let start = Instant::now();
        let mut collection = WorkerCollection::default();
        assert_eq!(collection.advise(start, start), CollectionAdvice::Collect);
        collection = WorkerCollection::Ordered(start);
        assert_eq!(
            collection.advise(start, start + SECOND / 2),
            CollectionAdvice::Wait
        );
        collection.done(start + 2 * SECOND);
        // Memory was read before the collection was over.
        let advice = |read_at, now| collection.advise(start + read_at, start + now);
        assert_eq!(advice(SECOND, 3 * SECOND), CollectionAdvice::Wait);
        assert_eq!(advice(3 * SECOND, 3 * SECOND), CollectionAdvice::Replace);
        let later = 2 * SECOND + HELPS_FOR;
        assert_eq!(advice(later, later), CollectionAdvice::Collect);
    }

    #[test]
    fn a_worker_that_does_not_collect_in_time_is_replaced() {
        let start = Instant::now();
        let ordered = WorkerCollection::Ordered(start);
        let late = start + COLLECT_WITHIN;
        assert_eq!(ordered.advise(late, late), CollectionAdvice::Replace);
    }
}
