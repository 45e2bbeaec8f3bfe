#[cfg(test)]
use std::rc::Rc;
use std::time::Duration;

use http::{Method, Version};

use crate::trace_context::{SpanId, TraceId};
use carat_exchange::Call;
#[cfg(test)]
use carat_exchange::Peer;
#[cfg(test)]
use carat_wire::Scheme;

/// The most bytes of a path that a span keeps.
const SPAN_PATH_LIMIT: usize = 512;
/// The most bytes of a client's address that a span keeps.
const SPAN_CLIENT_LIMIT: usize = 64;

/// The ids of a request's trace and spans.
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

/// The facts about a request that its span has. The query and header fields are left out, because
/// they may be secret.
#[derive(Debug)]
pub(crate) struct SpanRequest {
    pub(crate) method: &'static str,
    pub(crate) scheme: &'static str,
    pub(crate) path: String,
    pub(crate) version: &'static str,
    pub(crate) client: String,
}

impl SpanRequest {
    pub(crate) fn of(call: &Call) -> SpanRequest {
        let parts = &call.parts;
        SpanRequest {
            method: method(&parts.method),
            scheme: call.scheme().name(),
            path: beginning(parts.uri.path(), SPAN_PATH_LIMIT),
            version: match parts.version {
                Version::HTTP_10 => "1.0",
                Version::HTTP_2 => "2",
                _ => "1.1",
            },
            client: beginning(call.logged(), SPAN_CLIENT_LIMIT),
        }
    }
}

/// The method, or `_OTHER` for an unknown one: spans would have any number of names if clients
/// could choose them.
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

/// The times, from the beginning of a request, at which it went from one phase to the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Phases {
    pub(crate) queued: Duration,
    pub(crate) begun: Duration,
    pub(crate) answered: Duration,
}

/// The spans of a request that is over.
#[derive(Debug)]
pub(crate) struct TracedRequest {
    pub(crate) ids: SpanIds,
    pub(crate) parent: Option<SpanId>,
    pub(crate) trace_state: String,
    pub(crate) request: SpanRequest,
    /// The time since 1970 at which the request began.
    pub(crate) start: Duration,
    /// `None` when the application has not responded.
    pub(crate) phases: Option<Phases>,
    pub(crate) took: Duration,
    /// For how long the application waited for full garbage collections.
    pub(crate) collection: Duration,
    /// `None` when the client left before the response.
    pub(crate) status: Option<u16>,
    /// Why the edge refused the request.
    pub(crate) reason: Option<&'static str>,
}

impl TracedRequest {
    /// The number of spans.
    pub(crate) fn spans(&self) -> u64 {
        if self.phases.is_some() { 4 } else { 1 }
    }
}

#[cfg(test)]
impl TracedRequest {
    pub(crate) fn plain() -> Box<TracedRequest> {
        let mut call = Call::plain("GET", "/a?secret");
        let mut peer = Peer::new("192.0.2.1".to_owned(), false, 80, None);
        peer.scheme = Scheme::Https;
        call.peer = Rc::new(peer);
        let request = SpanRequest::of(&call);
        Box::new(TracedRequest {
            ids: SpanIds::new([1; 48], None),
            parent: None,
            trace_state: String::new(),
            request,
            start: Duration::ZERO,
            phases: None,
            took: Duration::ZERO,
            collection: Duration::ZERO,
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
