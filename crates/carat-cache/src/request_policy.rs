use http::header::{
    AUTHORIZATION, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE, RANGE, UPGRADE,
};
use http::{HeaderMap, Method};

use crate::directives::RequestDirectives;

/// How a request may be answered from the cache.
#[derive(Clone, Copy)]
pub struct RequestPolicy {
    /// The directives of the request's Cache-Control.
    pub wishes: RequestDirectives,
    /// Whether the request asks for the header fields only.
    pub is_head: bool,
    /// Whether the request has credentials of a user.
    pub is_authorized: bool,
    /// Whether other requests may wait for the response to this one: they could get the same
    /// response, and all of it.
    pub is_shareable: bool,
}

impl RequestPolicy {
    /// The policy of a request; `None` if the cache has nothing to do with it.
    pub fn of(method: &Method, headers: &HeaderMap) -> Option<RequestPolicy> {
        let is_head = *method == Method::HEAD;
        let others = [UPGRADE, IF_MATCH, IF_UNMODIFIED_SINCE];
        if !(is_head || *method == Method::GET) || has_any(headers, &others) {
            return None;
        }
        let wishes = RequestDirectives::of(headers);
        let own = [AUTHORIZATION, IF_NONE_MATCH, IF_MODIFIED_SINCE, RANGE];
        Some(RequestPolicy {
            wishes,
            is_head,
            is_authorized: headers.contains_key(AUTHORIZATION),
            is_shareable: !is_head && !wishes.no_store && !has_any(headers, &own),
        })
    }
}

fn has_any(headers: &HeaderMap, names: &[http::HeaderName]) -> bool {
    names.iter().any(|name| headers.contains_key(name))
}

/// Whether a request may change what its URL names (RFC 9111, section 4.4).
pub fn is_unsafe(method: &Method) -> bool {
    let safe = [Method::GET, Method::HEAD, Method::OPTIONS, Method::TRACE];
    !safe.contains(method) && *method != Method::CONNECT && method.as_str() != "QUERY"
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn of(method: &Method, name: &'static str) -> Option<RequestPolicy> {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_static("x"));
        RequestPolicy::of(method, &headers)
    }

    #[test]
    fn only_what_asks_for_a_whole_public_page_is_shared() {
        let is_shareable = |name| of(&Method::GET, name).map(|it| it.is_shareable);
        assert_eq!(is_shareable("accept"), Some(true));
        for name in "authorization|range|if-none-match|if-modified-since".split('|') {
            assert_eq!(is_shareable(name), Some(false), "{name}");
        }
        for name in ["upgrade", "if-match", "if-unmodified-since"] {
            assert_eq!(is_shareable(name), None, "{name}");
        }
        assert!(of(&Method::HEAD, "accept").is_some_and(|it| it.is_head && !it.is_shareable));
        assert!(of(&Method::POST, "accept").is_none());
    }

    #[test]
    fn unsafe_is_what_may_change_something() {
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
            assert!(is_unsafe(&method), "{method}");
        }
        let query = Method::from_bytes(b"QUERY").expect("a method");
        for method in [Method::GET, Method::HEAD, Method::OPTIONS, query] {
            assert!(!is_unsafe(&method), "{method}");
        }
    }
}
