use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::poll_fn;
use std::task::{Poll, Waker};
use std::time::Instant;

use super::{Answer, Call};
use crate::http::Refusal;

/// One request on its way through the server.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) call: Call,
    /// When it was put in the queue, or on a lane.
    pub(crate) arrived: Instant,
    /// Whether a worker has died over it before.
    pub(crate) retried: Cell<bool>,
    cancelled: Cell<bool>,
    outcome: RefCell<Outcome>,
}

#[derive(Debug)]
enum Outcome {
    Open(Option<Waker>),
    Settled(Box<Result<Answer, Refusal>>),
    Taken,
}

impl Exchange {
    pub(crate) fn new(call: Call) -> Exchange {
        Exchange {
            call,
            arrived: Instant::now(),
            retried: Cell::new(false),
            cancelled: Cell::new(false),
            outcome: RefCell::new(Outcome::Open(None)),
        }
    }

    /// Settles the exchange; what comes after the first outcome is dropped.
    pub(crate) fn settle(&self, result: Result<Answer, Refusal>) {
        let mut outcome = self.outcome.borrow_mut();
        if let Outcome::Open(waker) = &mut *outcome {
            let waker = waker.take();
            *outcome = Outcome::Settled(Box::new(result));
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    /// Whether nobody waits for the outcome any more.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.get()
    }

    /// Whether the outcome is already known.
    pub(crate) fn is_settled(&self) -> bool {
        !matches!(*self.outcome.borrow(), Outcome::Open(_))
    }

    /// Waits for the outcome. Dropping the future cancels the exchange.
    pub(crate) async fn outcome(&self) -> Result<Answer, Refusal> {
        let cancel = CancelOnDrop(self);
        let outcome = poll_fn(|cx| {
            let mut outcome = self.outcome.borrow_mut();
            if let Outcome::Open(waker) = &mut *outcome {
                *waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(std::mem::replace(&mut *outcome, Outcome::Taken))
        })
        .await;
        std::mem::forget(cancel);
        match outcome {
            Outcome::Settled(result) => *result,
            Outcome::Open(_) | Outcome::Taken => {
                unreachable!("polled until settled, and only once")
            }
        }
    }
}

struct CancelOnDrop<'a>(&'a Exchange);

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        self.0.cancelled.set(true);
    }
}

/// A request as a log line names it.
pub(super) struct Line<'a>(pub(super) &'a Exchange);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.call.parts.method, self.0.call.parts.uri)
    }
}
