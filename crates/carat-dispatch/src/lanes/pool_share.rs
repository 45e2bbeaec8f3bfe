use std::cell::Cell;
use std::rc::Rc;

/// The pool that a request belongs to, and how many of its requests the lanes hold. Clones share the number.
#[derive(Debug, Clone)]
pub(crate) struct PoolMembership {
    /// The index of the pool.
    pub(crate) index: usize,
    held: Rc<Cell<usize>>,
}

/// The place of one request within the bound of its pool, taken while a lane holds the request.
#[derive(Debug)]
pub(crate) struct PoolShare(PoolMembership);

impl PoolMembership {
    pub(crate) fn new(index: usize) -> PoolMembership {
        let held = Rc::default();
        PoolMembership { index, held }
    }

    /// How many requests of the pool the lanes hold.
    pub(crate) fn held(&self) -> usize {
        self.held.get()
    }

    /// A lane gets a request of the pool.
    pub(crate) fn take_share(&self) -> PoolShare {
        self.held.set(self.held.get() + 1);
        PoolShare(self.clone())
    }
}

#[cfg(any(test, feature = "fixture"))]
impl PoolShare {
    /// The index of the pool whose lane the request takes.
    pub(crate) fn index(&self) -> usize {
        self.0.index
    }
}

impl Drop for PoolShare {
    fn drop(&mut self) {
        self.0.held.set(self.0.held.get() - 1);
    }
}
