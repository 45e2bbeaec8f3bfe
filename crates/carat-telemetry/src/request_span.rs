use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::span_queue::SpanQueue;
use crate::trace_context::SpanId;
use crate::traced_request::{Phases, SpanIds, SpanRequest, TracedRequest};
use carat_http::FinishedRequest;

/// The spans of a request that is being served.
#[derive(Debug)]
pub(crate) struct RequestSpan {
    queue: Rc<SpanQueue>,
    span: Box<TracedRequest>,
}

impl RequestSpan {
    pub(crate) fn begin(
        ids: SpanIds,
        parent: Option<SpanId>,
        trace_state: String,
        request: SpanRequest,
        queue: Rc<SpanQueue>,
    ) -> RequestSpan {
        // A clock before 1970 counts as the start of 1970.
        let start = SystemTime::now().duration_since(UNIX_EPOCH);
        RequestSpan {
            queue,
            span: Box::new(TracedRequest {
                ids,
                parent,
                trace_state,
                request,
                start: start.unwrap_or_default(),
                phases: None,
                took: Duration::ZERO,
                collection: Duration::ZERO,
                status: None,
                reason: None,
            }),
        }
    }

    /// Leaves the spans of a request that is over to the exporter.
    pub(crate) fn finish(mut self, request: &FinishedRequest) {
        self.span.phases = request.answered.map(|answered| {
            let begun = answered.saturating_sub(request.times.app());
            Phases {
                queued: begun.saturating_sub(request.times.queue),
                begun,
                answered,
            }
        });
        self.span.took = request.took;
        self.span.collection = request.times.collection();
        self.span.status = request.status;
        self.span.reason = request.reason;
        self.queue.push(self.span);
    }
}
