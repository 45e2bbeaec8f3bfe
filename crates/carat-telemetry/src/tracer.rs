use std::rc::Rc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use crate::exporter::{Destination, Exporter};
use crate::request_span::RequestSpan;
use crate::resource::resource;
use crate::trace_context::{TraceContext, random, trace_state};
use crate::traced_request::{SpanIds, SpanRequest};
use carat_exchange::{Call, ProxyFields};
use carat_http::{FinishedRequest, RequestObserver, RequestSlots};
use carat_log::Log;
use carat_settings::Settings;

/// How long the end of the server waits for the collector to take the last spans.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Decides which requests have spans, and keeps them until the collector has them.
#[derive(Debug)]
pub(crate) struct Tracer {
    destination: Destination,
    finished: Notify,
}

impl Tracer {
    /// `None` without the option `otlp`.
    pub(crate) fn new(settings: &Settings) -> Option<Rc<Tracer>> {
        let otlp = settings.parts.otlp.collector.clone()?;
        let variable = |name: &str| std::env::var(name).ok();
        let destination = Destination {
            otlp,
            version: settings.version.clone(),
            resource: resource(&settings.directory, variable),
            queue: Rc::default(),
        };
        Some(Rc::new(Tracer {
            destination,
            finished: Notify::new(),
        }))
    }

    /// Begins the spans of a request, and names them to the application as the parents of its own
    /// spans. `None` for a request that is not sampled. The application learns that, too.
    fn start(&self, call: &mut Call) -> Option<RequestSpan> {
        // A peer that is not trusted cannot name the span to which the request belongs.
        let names_parent = call.peer.proxy_fields != ProxyFields::Removed;
        let headers = &mut call.parts.headers;
        let parent = TraceContext::of(headers).filter(|_| names_parent);
        if parent.is_some_and(|parent| !parent.is_sampled) {
            return None;
        }
        let ids = SpanIds::new(random()?, parent.map(|parent| parent.trace));
        let is_sampled = parent.is_some() || is_chosen(&ids, self.destination.otlp.sample);
        let context = TraceContext {
            trace: ids.trace,
            span: ids.application,
            is_sampled,
        };
        let state = parent.map(|_| trace_state(headers));
        context.tell(headers, parent.is_some());
        is_sampled.then(|| {
            let request = SpanRequest::of(call);
            let parent = parent.map(|parent| parent.span);
            let queue = Rc::clone(&self.destination.queue);
            RequestSpan::begin(ids, parent, state.unwrap_or_default(), request, queue)
        })
    }

    /// Sends spans until [`Tracer::finish`] is called. Then sends the spans that are left, and
    /// returns.
    pub(crate) async fn export(self: Rc<Self>, log: Rc<Log>) {
        Exporter::new(&self.destination, log).run().await;
        self.finished.notify_one();
    }

    /// Has the last spans sent, and waits for that for a second at most.
    pub(crate) async fn finish(&self, log: &Log) {
        let queue = &self.destination.queue;
        let dropped = queue.dropped();
        queue.close();
        if queue.unsent() > 0 {
            // The spans that are left are counted below.
            let _ = timeout(FLUSH_TIMEOUT, self.finished.notified()).await;
        }
        let lost = queue.unsent() + queue.dropped() - dropped;
        if lost > 0 {
            log.warn("spans lost with the end of the server", &[("spans", &lost)]);
        }
    }

    /// The number of spans that the collector has taken, and of those that it will never get.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (
            self.destination.queue.exported(),
            self.destination.queue.dropped(),
        )
    }
}

impl RequestObserver for Tracer {
    fn begin(&self, call: &mut Call, slots: &mut RequestSlots) {
        if let Some(span) = self.start(call) {
            slots.set(span);
        }
    }

    fn finished(&self, request: &mut FinishedRequest) {
        if let Some(span) = request.slots.take::<RequestSpan>() {
            span.finish(request);
        }
    }
}

/// Whether a trace that begins here is in the sampled share. The last seven bytes of its id decide,
/// as in other samplers.
fn is_chosen(ids: &SpanIds, share: f64) -> bool {
    let random = ids.trace.iter().skip(9);
    let random = random.fold(0.0, |sum, &byte| sum * 256.0 + f64::from(byte));
    random < share * 256.0_f64.powi(7)
}

#[cfg(test)]
mod tests {
    use carat_exchange::Peer;
    use carat_settings::Otlp;
    use http::HeaderValue;

    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331";

    fn tracer(sample: f64) -> Rc<Tracer> {
        let otlp = Otlp {
            host: "127.0.0.1".to_owned(),
            port: 1,
            path: String::new(),
            sample,
        };
        let mut settings = Settings::plain();
        settings.parts.otlp.collector = Some(otlp);
        Tracer::new(&settings).expect("the option is set")
    }

    fn call(parent: Option<&str>) -> Call {
        let mut call = Call::plain("GET", "/");
        let headers = &mut call.parts.headers;
        headers.insert("tracestate", HeaderValue::from_static("a=1"));
        if let Some(parent) = parent {
            let parent = HeaderValue::try_from(parent).expect("a value");
            headers.insert("traceparent", parent);
        }
        call
    }

    fn told(call: &Call) -> &str {
        let told = call.parts.headers["traceparent"].to_str();
        told.expect("text")
    }

    #[test]
    fn a_sampled_parent_is_followed_whatever_the_share_is() {
        let mut call = call(Some(&format!("{PARENT}-01")));
        assert!(tracer(0.0).start(&mut call).is_some());
        assert_eq!(told(&call)[..36], PARENT[..36]);
        assert_ne!(told(&call)[36..52], PARENT[36..52]);
        assert_eq!(call.parts.headers["tracestate"], "a=1");
    }

    #[test]
    fn a_parent_that_is_not_sampled_is_passed_on() {
        let parent = format!("{PARENT}-00");
        let mut call = call(Some(&parent));
        assert!(tracer(1.0).start(&mut call).is_none());
        assert_eq!(told(&call), parent);
    }

    #[test]
    fn a_peer_without_trust_begins_a_trace_of_its_own() {
        let mut call = call(Some(&format!("{PARENT}-00")));
        let mut peer = Peer::new(String::new(), false, 80, None);
        peer.proxy_fields = ProxyFields::Removed;
        call.peer = Rc::new(peer);
        assert!(tracer(1.0).start(&mut call).is_some());
        assert_ne!(told(&call)[..36], PARENT[..36]);
        assert!(!call.parts.headers.contains_key("tracestate"));
    }

    #[test]
    fn the_application_learns_that_a_request_is_not_sampled() {
        let mut call = call(None);
        assert!(tracer(0.0).start(&mut call).is_none());
        assert!(told(&call).ends_with("-00"));
    }
}
