use std::time::Duration;

use http::{Method, Request, Version};

use crate::trace_context::{SpanId, TraceId};
use carat_wire::Scheme;

/// Bytes of a path that a span keeps.
const SPAN_PATH_LIMIT: usize = 512;
/// Bytes of a client's address that a span keeps.
const SPAN_CLIENT_LIMIT: usize = 64;

/// The trace of a request, and the spans that it has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpanIds {
    pub(crate) trace: TraceId,
    pub(crate) request: SpanId,
    pub(crate) queue: SpanId,
    pub(crate) application: SpanId,
    pub(crate) send: SpanId,
}

impl SpanIds {
    pub(crate) fn new(random: [u8; 48], trace: Option<TraceId>) -> SpanIds {
        let (own, spans) = random.split_at(16);
        let own = TraceId::try_from(own).unwrap_or_default();
        let span = |index: usize| {
            let bytes = &spans[index * 8..][..8];
            SpanId::try_from(bytes).unwrap_or_default()
        };
        SpanIds {
            trace: trace.unwrap_or(own),
            request: span(0),
            queue: span(1),
            application: span(2),
            send: span(3),
        }
    }
}

/// The client of a request.
#[derive(Clone, Copy)]
pub struct TracedClient<'a> {
    /// The address as in the access log.
    pub address: &'a str,
    /// How the client reached the first server.
    pub scheme: Scheme,
    /// Whether the peer may name the span that the request belongs to.
    pub names_parent: bool,
}

/// The content of a span: neither the query nor a header field, which may be secret.
#[derive(Debug)]
pub(crate) struct SpanRequest {
    pub(crate) method: &'static str,
    pub(crate) scheme: &'static str,
    pub(crate) path: String,
    pub(crate) version: &'static str,
    pub(crate) client: String,
}

impl SpanRequest {
    pub(crate) fn of<B>(request: &Request<B>, client: &TracedClient<'_>) -> SpanRequest {
        SpanRequest {
            method: method(request.method()),
            scheme: client.scheme.name(),
            path: beginning(request.uri().path(), SPAN_PATH_LIMIT),
            version: match request.version() {
                Version::HTTP_10 => "1.0",
                Version::HTTP_2 => "2",
                _ => "1.1",
            },
            client: beginning(client.address, SPAN_CLIENT_LIMIT),
        }
    }
}

/// Methods that a client makes up would be any number of names.
fn method(method: &Method) -> &'static str {
    const KNOWN: [&str; 10] = [
        "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE",
    ];
    let known = KNOWN.into_iter().find(|known| *known == method.as_str());
    known.unwrap_or("_OTHER")
}

fn beginning(text: &str, limit: usize) -> String {
    let cut = (0..=limit.min(text.len())).rfind(|&index| text.is_char_boundary(index));
    text[..cut.unwrap_or_default()].to_owned()
}

/// When a request went from one phase to the next, from its beginning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Phases {
    pub(crate) queued: Duration,
    pub(crate) begun: Duration,
    pub(crate) answered: Duration,
}

/// The spans of a request that is over.
#[derive(Debug)]
pub(crate) struct FinishedRequest {
    pub(crate) ids: SpanIds,
    pub(crate) parent: Option<SpanId>,
    pub(crate) trace_state: String,
    pub(crate) request: SpanRequest,
    /// Since 1970.
    pub(crate) start: Duration,
    /// `None` when the application has not responded.
    pub(crate) phases: Option<Phases>,
    pub(crate) took: Duration,
    /// `None` when the client left before the response.
    pub(crate) status: Option<u16>,
    /// Why the edge refused the request.
    pub(crate) reason: Option<&'static str>,
}

impl FinishedRequest {
    /// How many there are.
    pub(crate) fn spans(&self) -> u64 {
        if self.phases.is_some() { 4 } else { 1 }
    }
}

#[cfg(test)]
impl FinishedRequest {
    pub(crate) fn plain() -> Box<FinishedRequest> {
        let request = Request::builder().uri("/a?secret").body(());
        let client = TracedClient {
            address: "192.0.2.1",
            scheme: Scheme::Https,
            names_parent: false,
        };
        let request = SpanRequest::of(&request.expect("a request"), &client);
        Box::new(FinishedRequest {
            ids: SpanIds::new([1; 48], None),
            parent: None,
            trace_state: String::new(),
            request,
            start: Duration::ZERO,
            phases: None,
            took: Duration::ZERO,
            status: None,
            reason: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(beginning("aä", 2), "a");
        assert_eq!(beginning("aä", 3), "aä");
        assert_eq!(beginning("", 3), "");
    }

    #[test]
    fn methods_have_a_known_number_of_names() {
        let made_up = Method::from_bytes(b"BREW").expect("a method");
        assert_eq!(method(&made_up), "_OTHER");
        assert_eq!(method(&Method::PUT), "PUT");
    }
}
