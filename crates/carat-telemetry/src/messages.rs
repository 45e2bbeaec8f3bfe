//! Messages of OTLP. The numbers of fields and constants are those of `opentelemetry/proto`.

use std::ops::Range;
use std::time::Duration;

use crate::protobuf::ProtoMessage;
use crate::trace_context::SpanId;
use crate::traced_request::{Phases, TracedRequest};

/// Statuses from here on are failures of the server.
const FIRST_FAILURE: u16 = 500;
/// `Span.SpanKind`.
const INTERNAL: u64 = 1;
const SERVER: u64 = 2;
/// `Status.StatusCode`.
const ERROR: u64 = 2;

/// The spans of these requests, as `ExportTraceServiceRequest`, with the version of the server.
pub(crate) fn message(
    version: &str,
    resource: &ProtoMessage,
    batch: &[Box<TracedRequest>],
) -> Vec<u8> {
    let scope = ProtoMessage::default().bytes(1, "carat");
    let scope = scope.bytes(2, version);
    let spans = batch.iter().flat_map(|request| spans(request));
    let scope_spans = spans.fold(ProtoMessage::default().message(1, &scope), |all, span| {
        all.message(2, &span)
    });
    let resource_spans = ProtoMessage::default().message(1, resource);
    let resource_spans = resource_spans.message(2, &scope_spans);
    let message = ProtoMessage::default().message(1, &resource_spans);
    message.into_bytes()
}

/// An attribute with a text: a `KeyValue`.
pub(crate) fn text(key: &str, value: &str) -> ProtoMessage {
    attribute(key, &ProtoMessage::default().bytes(1, value))
}

fn number(key: &str, value: u64) -> ProtoMessage {
    attribute(key, &ProtoMessage::default().number(3, value))
}

/// An attribute: a `KeyValue` with an `AnyValue`.
fn attribute(key: &str, value: &ProtoMessage) -> ProtoMessage {
    ProtoMessage::default().bytes(1, key).message(2, value)
}

/// The span of the request, and the spans of its phases.
fn spans(request: &TracedRequest) -> Vec<ProtoMessage> {
    let mut spans = vec![root(request)];
    if let Some(Phases {
        queued,
        begun,
        answered,
    }) = request.phases
    {
        let ids = &request.ids;
        spans.extend([
            phase(request, "queue", ids.queue, queued..begun),
            application(request, begun..answered),
            phase(request, "send", ids.send, answered..request.took),
        ]);
    }
    spans
}

/// The span of the request, with the attributes that `OpenTelemetry` has for spans of HTTP servers.
fn root(request: &TracedRequest) -> ProtoMessage {
    let about = &request.request;
    let method = about.method;
    let mut attributes = vec![
        text("http.request.method", method),
        text("url.scheme", about.scheme),
        text("url.path", &about.path),
        text("network.protocol.version", about.version),
        text("client.address", &about.client),
    ];
    if let Some(status) = request.status {
        attributes.push(number("http.response.status_code", status.into()));
    }
    let failure = match (request.reason, request.status) {
        (Some(reason), _) => Some(reason.to_owned()),
        (None, None) => Some("client left".to_owned()),
        (None, Some(status)) => (status >= FIRST_FAILURE).then(|| status.to_string()),
    };
    attributes.extend(failure.map(|failure| text("error.type", &failure)));
    let name = if method == "_OTHER" { "HTTP" } else { method };
    let time = Duration::ZERO..request.took;
    let mut root = span(request, name, request.ids.request, time).number(6, SERVER);
    root = root.bytes(3, &request.trace_state);
    if let Some(parent) = request.parent {
        root = root.bytes(4, parent);
    }
    for attribute in &attributes {
        root = root.message(9, attribute);
    }
    if request.status.is_none_or(|status| status >= FIRST_FAILURE) {
        root = root.message(15, &ProtoMessage::default().number(3, ERROR));
    }
    root
}

/// The span of the application, with the milliseconds for which it waited for full garbage collections, if any.
fn application(request: &TracedRequest, time: Range<Duration>) -> ProtoMessage {
    let span = phase(request, "application", request.ids.application, time);
    if request.collection.is_zero() {
        return span;
    }
    let millis = u64::try_from(request.collection.as_millis()).unwrap_or(u64::MAX);
    span.message(9, &number("carat.gc_ms", millis))
}

fn phase(request: &TracedRequest, name: &str, id: SpanId, time: Range<Duration>) -> ProtoMessage {
    let phase = span(request, name, id, time).number(6, INTERNAL);
    phase.bytes(4, request.ids.request)
}

fn span(request: &TracedRequest, name: &str, id: SpanId, time: Range<Duration>) -> ProtoMessage {
    let nanoseconds = |time| u64::try_from((request.start + time).as_nanos()).unwrap_or(u64::MAX);
    ProtoMessage::default()
        .bytes(1, request.ids.trace)
        .bytes(2, id)
        .bytes(5, name)
        .fixed64(7, nanoseconds(time.start))
        .fixed64(8, nanoseconds(time.end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protobuf::{ProtoFields, Value};

    fn of(finish: impl FnOnce(&mut TracedRequest)) -> Vec<ProtoMessage> {
        let mut request = TracedRequest::plain();
        request.took = Duration::from_millis(9);
        finish(&mut request);
        spans(&request)
    }

    fn field(message: &ProtoMessage, field: u64) -> Option<Value<'_>> {
        ProtoFields::value(message.encoded(), field)
    }

    fn has(span: &ProtoMessage, attribute: &ProtoMessage) -> bool {
        ProtoFields(span.encoded()).any(|field| field == (9, Value::Bytes(attribute.encoded())))
    }

    #[test]
    fn the_phases_of_a_request_follow_each_other_within_it() {
        let spans = of(|request| {
            request.status = Some(200);
            request.phases = Some(Phases {
                queued: Duration::from_millis(1),
                begun: Duration::from_millis(2),
                answered: Duration::from_millis(5),
            });
        });
        let names: Vec<_> = spans.iter().map(|span| field(span, 5)).collect();
        let expected: [&[u8]; 4] = [b"GET", b"queue", b"application", b"send"];
        assert_eq!(names, expected.map(|name| Some(Value::Bytes(name))));
        let [root, phases @ ..] = &spans[..] else {
            panic!("no span");
        };
        assert!(phases.iter().all(|it| field(it, 4) == field(root, 2)));
        assert!(phases.iter().all(|it| field(it, 1) == field(root, 1)));
        for (one, next) in phases.iter().zip(&phases[1..]) {
            assert_eq!(field(one, 8), field(next, 7));
        }
        assert_eq!(field(&phases[2], 8), field(root, 8));
        assert_eq!(field(root, 15), None);
        assert!(has(root, &text("url.scheme", "https")));
        assert!(has(root, &text("url.path", "/a")));
        assert!(has(root, &number("http.response.status_code", 200)));
    }

    #[test]
    fn a_request_that_waited_for_the_collector_says_so_on_the_span_of_the_application() {
        let spans = of(|request| {
            request.collection = Duration::from_micros(82_500);
            request.phases = Some(Phases {
                queued: Duration::ZERO,
                begun: Duration::ZERO,
                answered: Duration::from_millis(5),
            });
        });
        let waited = number("carat.gc_ms", 82);
        let found: Vec<_> = spans.iter().map(|span| has(span, &waited)).collect();
        assert_eq!(found, [false, false, true, false]);
    }

    #[test]
    fn a_failure_says_its_reason() {
        let refused = of(|request| {
            request.status = Some(503);
            request.reason = Some("queue full");
        });
        let left = of(|_| {});
        let missing = of(|request| request.status = Some(404));
        assert!(has(&refused[0], &text("error.type", "queue full")));
        assert!(has(&left[0], &text("error.type", "client left")));
        let fails = |spans: &[ProtoMessage]| field(&spans[0], 15).is_some();
        assert!(fails(&refused) && fails(&left) && !fails(&missing));
    }
}
