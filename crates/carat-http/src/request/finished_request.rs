use std::fmt;
use std::time::{Duration, Instant};

use crate::request::request_slots::RequestSlots;
use carat_exchange::{Call, Refusal, RequestTimes};

/// Sees requests from their beginning to their end: the requests of clients, and requests that a part sends to the
/// application.
pub trait RequestObserver: fmt::Debug {
    /// Sees a request that begins, before the application gets it. Keeps in `slots` what `finished` needs to know,
    /// because the call is gone by then. Not called for a request that was not understood.
    fn begin(&self, _call: &mut Call, _slots: &mut RequestSlots) {}

    /// Sees a request that is over: its response was sent, or its client has left.
    fn finished(&self, request: &mut FinishedRequest);
}

/// A request that is over.
#[derive(Debug)]
pub struct FinishedRequest {
    /// When the headers had arrived.
    pub start: Instant,
    /// The time from `start` to the end.
    pub took: Duration,
    /// The time from `start` until the application began its response; `None` if it did not.
    pub answered: Option<Duration>,
    /// The status of the response; `None` if the client left before it.
    pub status: Option<u16>,
    /// Why the edge refused the request.
    pub refusal: Option<Refusal>,
    /// Why the edge refused the request, or why a socket ended.
    pub reason: Option<&'static str>,
    /// How long the request waited in the queue and for the application.
    pub times: RequestTimes,
    /// The facts that observers remember.
    pub slots: RequestSlots,
}

impl FinishedRequest {
    pub(crate) fn begin() -> FinishedRequest {
        FinishedRequest {
            start: Instant::now(),
            took: Duration::ZERO,
            answered: None,
            status: None,
            refusal: None,
            reason: None,
            times: RequestTimes::default(),
            slots: RequestSlots::default(),
        }
    }
}
