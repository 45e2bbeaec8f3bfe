use std::rc::Rc;
use std::time::Instant;

use bytes::Bytes;
use http::header::{AGE, CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

use super::response_cache::ResponseCache;
use crate::{StoredResponse, client_has};
use carat_exchange::{ReplyBody, ReplyContent, StoredBody};

/// The header field that says what a cache has done with a request (RFC 9211).
const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");

/// Values of Cache-Status.
pub(super) const HIT: &str = "carat; hit";
pub(super) const STALE: &str = "carat; hit; fwd=stale";
pub(super) const COLLAPSED: &str = "carat; hit; collapsed";
pub(super) const CONFIRMED: &str = "carat; fwd=stale; fwd-status=304; stored";
pub(super) const STORED: &str = "carat; fwd=miss; stored";
pub(super) const PASSED: &str = "carat; fwd=miss";
pub(super) const NOT_CACHED: &str = "carat; fwd=miss; detail=only-if-cached";

/// The body of a stored response.
#[derive(Debug)]
struct CachedBody {
    cache: Rc<ResponseCache>,
    entry: Rc<StoredResponse>,
}

/// Makes the response to a request from a stored one. `how` is the value of Cache-Status.
pub(super) fn response(
    cache: &Rc<ResponseCache>,
    entry: &Rc<StoredResponse>,
    request: &HeaderMap,
    is_head: bool,
    how: &'static str,
    now: Instant,
) -> Response<ReplyBody> {
    let has_it = client_has(request, entry);
    let body = if has_it || is_head || entry.body.is_empty() {
        ReplyBody::empty()
    } else {
        stored(cache, entry)
    };
    let mut response = Response::new(body);
    *response.status_mut() = entry.status;
    *response.headers_mut() = entry.headers.clone();
    let headers = response.headers_mut();
    if is_head && !has_it && entry.status != StatusCode::NO_CONTENT {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(entry.body.len()));
    }
    let age = entry.freshness.age(now).as_secs();
    // The field Age tells the client that the response was not made for this request (RFC 9111,
    // section 5.1).
    if age > 0 || ![STORED, CONFIRMED].contains(&how) {
        headers.insert(AGE, HeaderValue::from(age));
    }
    say(headers, how);
    if has_it {
        headers.remove(CONTENT_ENCODING);
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    response
}

/// Adds the header field that says what the cache has done.
pub(super) fn say(headers: &mut HeaderMap, how: &'static str) {
    headers.append(CACHE_STATUS, HeaderValue::from_static(how));
}

fn stored(cache: &Rc<ResponseCache>, entry: &Rc<StoredResponse>) -> ReplyBody {
    let body = CachedBody {
        cache: Rc::clone(cache),
        entry: Rc::clone(entry),
    };
    ReplyContent::Stored(Rc::new(body)).into()
}

impl StoredBody for CachedBody {
    fn plain(&self) -> &Bytes {
        &self.entry.body
    }

    fn form(&self, name: &'static str) -> Option<Bytes> {
        self.entry.form(name)
    }

    fn begin_form(&self, name: &'static str) -> bool {
        self.entry.begin_form(name)
    }

    fn end_form(&self, name: &'static str, made: Option<&Bytes>) {
        self.cache.keep_form(&self.entry, name, made);
    }
}
