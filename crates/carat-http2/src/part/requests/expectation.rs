use std::cell::{Cell, RefCell};
use std::task::{Context, Waker};

/// A client of HTTP/2 that sends its body only once it is asked to (`Expect: 100-continue`).
#[derive(Default)]
pub(crate) struct Expectation {
    is_asked: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Expectation {
    /// Asks the client for the body.
    pub(super) fn ask(&self) {
        if !self.is_asked.replace(true) {
            if let Some(waker) = self.waker.take() {
                waker.wake();
            }
        }
    }

    /// Whether the client is to be asked for the body. If not yet, the task is woken when it is.
    pub(crate) fn is_asked(&self, cx: &Context<'_>) -> bool {
        if !self.is_asked.get() {
            self.waker.replace(Some(cx.waker().clone()));
        }
        self.is_asked.get()
    }
}
