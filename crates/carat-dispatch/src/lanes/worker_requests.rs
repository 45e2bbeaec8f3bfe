use std::cell::Cell;
use std::rc::Rc;

/// How many requests a worker holds on all of its lanes together. Clones share the number.
#[derive(Debug, Clone, Default)]
pub struct WorkerRequests(Rc<Cell<usize>>);

impl WorkerRequests {
    pub(crate) fn count(&self) -> usize {
        self.0.get()
    }

    pub(crate) fn add(&self, requests: usize) {
        self.0.set(self.count() + requests);
    }

    pub(crate) fn remove(&self, requests: usize) {
        self.0.set(self.count() - requests);
    }
}
