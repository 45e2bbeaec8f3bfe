use std::cell::{Cell, RefCell};
use std::task::Waker;

/// The order of messages: the next message of a client waits until the response to the last one is out.
#[derive(Debug, Default)]
pub struct MessageOrder {
    is_responding: Cell<bool>,
    response_begun: Cell<bool>,
    waiting_reader: RefCell<Option<Waker>>,
}

impl MessageOrder {
    /// Notes that hyper has the headers of a request.
    pub(crate) fn begin(&self) {
        self.is_responding.set(true);
        self.response_begun.set(false);
    }

    /// Notes that the response is on its way to the client.
    pub(crate) fn begin_response(&self) {
        self.response_begun.set(true);
    }

    pub(crate) fn has_begun_response(&self) -> bool {
        self.response_begun.get()
    }

    /// Notes that hyper has the complete response body, or that there will be none.
    pub fn end(&self) {
        self.is_responding.set(false);
        self.wake_reader();
    }

    /// Whether a request is being served.
    pub fn is_responding(&self) -> bool {
        self.is_responding.get()
    }

    /// Holds back the next message; `waker` is woken when the response is out.
    pub fn hold(&self, waker: &Waker) {
        self.waiting_reader.replace(Some(waker.clone()));
    }

    /// Wakes a reader that was held back, so that it checks again.
    pub fn wake_reader(&self) {
        if let Some(waker) = self.waiting_reader.take() {
            waker.wake();
        }
    }
}
