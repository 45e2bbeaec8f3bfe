use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::lanes::exchange::Exchange;

/// The time in which a lane gets no request from the queue, because its worker is yet to be checked.
#[derive(Debug, Default)]
pub(crate) struct Trial {
    is_on: Cell<bool>,
    /// The request that checks the worker, until the lane opens.
    first: RefCell<Option<Rc<Exchange>>>,
}

impl Trial {
    pub(crate) fn begin(&self) {
        self.is_on.set(true);
    }

    pub(crate) fn end(&self) {
        self.is_on.set(false);
    }

    pub(crate) fn is_on(&self) -> bool {
        self.is_on.get()
    }

    /// Keeps a request until the lane opens.
    pub(crate) fn keep_first(&self, exchange: Rc<Exchange>) {
        self.first.replace(Some(exchange));
    }

    pub(crate) fn take_first(&self) -> Option<Rc<Exchange>> {
        self.first.take()
    }
}
