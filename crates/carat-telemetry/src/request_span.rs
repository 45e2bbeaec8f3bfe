use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::finished_request::{FinishedRequest, Phases, SpanIds, SpanRequest};
use crate::span_queue::SpanQueue;
use crate::trace_context::SpanId;

/// The spans of a request that is being served.
#[derive(Debug)]
pub struct RequestSpan {
    queue: Rc<SpanQueue>,
    began: Instant,
    span: Box<FinishedRequest>,
}

impl RequestSpan {
    pub(crate) fn begin(
        ids: SpanIds,
        (parent, trace_state): (Option<SpanId>, String),
        request: SpanRequest,
        queue: Rc<SpanQueue>,
    ) -> RequestSpan {
        // A clock before 1970 has no time that a trace could use.
        let start = SystemTime::now().duration_since(UNIX_EPOCH);
        RequestSpan {
            queue,
            began: Instant::now(),
            span: Box::new(FinishedRequest {
                ids,
                parent,
                trace_state,
                request,
                start: start.unwrap_or_default(),
                phases: None,
                took: Duration::ZERO,
                status: None,
                reason: None,
            }),
        }
    }

    /// The application has just begun its response, after these times.
    pub fn responded(&mut self, queue_time: Duration, app_time: Duration) {
        let answered = self.began.elapsed();
        let begun = answered.saturating_sub(app_time);
        self.span.phases = Some(Phases {
            queued: begun.saturating_sub(queue_time),
            begun,
            answered,
        });
    }

    /// The request is over. Without a status its client left before the response; `reason` says why the edge refused it.
    pub fn finish(mut self, status: Option<u16>, reason: Option<&'static str>) {
        self.span.took = self.began.elapsed();
        self.span.status = status;
        self.span.reason = reason;
        self.queue.push(self.span);
    }
}
