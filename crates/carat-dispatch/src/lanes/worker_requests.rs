use std::cell::Cell;
use std::rc::Rc;

/// How many requests a worker holds on all of its lanes together, and how many of its threads these take. Clones share
/// the numbers.
#[derive(Debug, Clone)]
pub struct WorkerRequests(Rc<Counts>);

#[derive(Debug)]
struct Counts {
    requests: Cell<usize>,
    /// Lanes with a request that counts as one of `threads`.
    taken: Cell<usize>,
    threads: usize,
}

impl WorkerRequests {
    /// Those of a worker that runs this many requests at once, without those that only wait for others.
    pub fn of(threads: usize) -> WorkerRequests {
        let (requests, taken) = Default::default();
        WorkerRequests(Rc::new(Counts {
            requests,
            taken,
            threads,
        }))
    }

    pub(crate) fn count(&self) -> usize {
        self.0.requests.get()
    }

    pub(crate) fn add(&self, requests: usize) {
        self.0.requests.set(self.count() + requests);
    }

    pub(crate) fn remove(&self, requests: usize) {
        self.0.requests.set(self.count() - requests);
    }

    /// How many more lanes may get a request.
    pub(crate) fn free_threads(&self) -> usize {
        self.0.threads.saturating_sub(self.0.taken.get())
    }

    /// A lane takes one of the threads, or takes none any more.
    pub(crate) fn note_thread(&self, is_taken: bool) {
        let taken = self.0.taken.get();
        self.0
            .taken
            .set(if is_taken { taken + 1 } else { taken - 1 });
    }
}

impl Default for WorkerRequests {
    /// Without a bound.
    fn default() -> Self {
        WorkerRequests::of(usize::MAX)
    }
}
