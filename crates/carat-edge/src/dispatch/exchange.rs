use std::cell::{Cell, RefCell};
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use super::{Answer, Call, Intake};
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
    Settled(Result<Answer, Refusal>),
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
            *outcome = Outcome::Settled(result);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    /// Whether the application may be asked again after it has begun: none of the body is gone.
    pub(super) fn may_repeat(&self) -> bool {
        let body_is_here = |intake: &Rc<Intake>| !intake.has_begun();
        self.call.is_safe() && self.call.intake().is_none_or(body_is_here)
    }

    /// Whether nobody waits for the outcome any more.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.get()
    }

    /// Whether the outcome is already known.
    pub(crate) fn is_settled(&self) -> bool {
        !matches!(*self.outcome.borrow(), Outcome::Open(_))
    }
}

/// A request that the application has been asked, or will be; dropping it cancels the request.
#[derive(Debug)]
pub(crate) struct Asking(Rc<Exchange>);

impl Asking {
    pub(super) fn new(exchange: Rc<Exchange>) -> Asking {
        Asking(exchange)
    }
}

impl Future for Asking {
    type Output = Result<Answer, Refusal>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut outcome = self.0.outcome.borrow_mut();
        if let Outcome::Open(waker) = &mut *outcome {
            *waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        match std::mem::replace(&mut *outcome, Outcome::Taken) {
            Outcome::Settled(result) => Poll::Ready(result),
            Outcome::Open(_) | Outcome::Taken => {
                unreachable!("polled until settled, and only once")
            }
        }
    }
}

impl Drop for Asking {
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
