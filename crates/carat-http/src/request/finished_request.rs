use std::fmt;
use std::time::{Duration, Instant};

use crate::request::request_slots::RequestSlots;
use carat_exchange::{Call, Refusal, RequestTimes};

/// Sees requests from their beginning to their end: those of clients, and those by which a part asks the application.
pub trait RequestObserver: fmt::Debug {
    /// Sees a request that begins, before the application does. Keeps in `slots` what `finished` needs to know: the call is then
    /// gone. A request that was not understood has no beginning.
    fn begin(&self, _call: &mut Call, _slots: &mut RequestSlots) {}

    /// Sees a request that is over: its response was sent, or its client has left.
    fn finished(&self, request: &mut FinishedRequest);
}

/// A request that is over.
#[derive(Debug)]
pub struct FinishedRequest {
    /// When the headers had arrived.
    pub start: Instant,
    /// From `start` to the end.
    pub took: Duration,
    /// From `start` until the application had begun its response; `None` when it has not.
    pub answered: Option<Duration>,
    /// `None` when the client left before the response.
    pub status: Option<u16>,
    /// Why the edge refused the request.
    pub refusal: Option<Refusal>,
    /// Why the edge refused the request, or a socket has ended.
    pub reason: Option<&'static str>,
    /// How long its parts took.
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
