use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use http::HeaderMap;

use crate::frames::HintAllowance;
use crate::lanes::pool_share::PoolMembership;
use carat_exchange::{Call, Refusal, Reply, clock};
use carat_log::FieldValue;

/// A request on its way to the reply.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) call: Call,
    /// When the request was queued, or sent to a lane at once.
    pub(crate) arrived: Instant,
    /// Whether a worker died while it served the request.
    pub(crate) retried: Cell<bool>,
    /// Whether a worker could not receive the request.
    pub(crate) resent: Cell<bool>,
    /// How long the request waited for the garbage collector of its worker, in microseconds.
    pub(crate) collection_micros: Cell<u32>,
    /// The pool of the request, unless that is the main pool.
    pub(crate) pool: OnceCell<PoolMembership>,
    hint_allowance: HintAllowance,
    cancelled: Cell<bool>,
    outcome: RefCell<ExchangeOutcome>,
}

#[derive(Debug)]
enum ExchangeOutcome {
    Open(Option<Waker>),
    Settled(Result<Reply, Refusal>),
    Taken,
}

impl Exchange {
    pub(crate) fn new(call: Call) -> Exchange {
        Exchange {
            call,
            arrived: clock::now(),
            retried: Cell::new(false),
            resent: Cell::new(false),
            collection_micros: Cell::new(0),
            pool: OnceCell::new(),
            hint_allowance: HintAllowance::default(),
            cancelled: Cell::new(false),
            outcome: RefCell::new(ExchangeOutcome::Open(None)),
        }
    }

    /// Settles the exchange. Only the first outcome counts. A refusal discards the rest of the body.
    pub(crate) fn settle(&self, result: Result<Reply, Refusal>) {
        let mut outcome = self.outcome.borrow_mut();
        if let ExchangeOutcome::Open(waker) = &mut *outcome {
            if result.is_err() {
                self.call.discard_body();
            }
            let waker = waker.take();
            *outcome = ExchangeOutcome::Settled(result);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    /// Sends early hints to the client, unless it is gone or has its response.
    pub(crate) fn hint(&self, fields: &HeaderMap) {
        let outcome = self.outcome.borrow();
        let (ExchangeOutcome::Open(waker), Some(hints)) = (&*outcome, &self.call.hints) else {
            return;
        };
        if !self.is_cancelled() && self.hint_allowance.admits(fields) {
            hints.send(fields);
            if let Some(waker) = waker {
                waker.wake_by_ref();
            }
        }
    }

    /// How long ago the request was queued, or sent to a lane at once.
    pub(crate) fn waited(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.arrived)
    }

    /// Whether a worker may have begun the request, or could not receive it.
    pub(crate) fn has_been_sent(&self) -> bool {
        self.retried.get() || self.resent.get()
    }

    /// Whether the client is gone.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.get()
    }

    /// Whether the outcome is known.
    pub(crate) fn is_settled(&self) -> bool {
        !matches!(*self.outcome.borrow(), ExchangeOutcome::Open(_))
    }
}

/// A reply that the application has yet to make. Dropping it cancels the request.
pub struct PendingReply(Rc<Exchange>);

impl PendingReply {
    pub(crate) fn new(exchange: Rc<Exchange>) -> PendingReply {
        PendingReply(exchange)
    }
}

impl Future for PendingReply {
    type Output = Result<Reply, Refusal>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut outcome = self.0.outcome.borrow_mut();
        if let ExchangeOutcome::Open(waker) = &mut *outcome {
            *waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        match std::mem::replace(&mut *outcome, ExchangeOutcome::Taken) {
            ExchangeOutcome::Settled(result) => Poll::Ready(result),
            ExchangeOutcome::Open(_) | ExchangeOutcome::Taken => {
                unreachable!("polled until settled, and only once")
            }
        }
    }
}

impl Drop for PendingReply {
    fn drop(&mut self) {
        self.0.cancelled.set(true);
    }
}

/// A request as log lines name it.
pub(crate) struct LoggedRequest<'a>(pub(crate) &'a Exchange);

impl fmt::Display for LoggedRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.call.parts.method, self.0.call.parts.uri)
    }
}

impl FieldValue for LoggedRequest<'_> {}
