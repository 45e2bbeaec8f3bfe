use std::ops::Range;

use carat_fields::RequestedRanges;
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LANGUAGE,
    CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, EXPIRES, IF_RANGE, LAST_MODIFIED, RANGE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};

use super::client_body::ClientBody;
use super::parts::{PartsBody, Whole, boundary};
use carat_exchange::ReplyBody;

/// Headers that describe the content. A 416 response does not carry them, so that nobody caches it or takes it for
/// the content.
const CONTENT_HEADERS: [HeaderName; 8] = [
    CACHE_CONTROL,
    CONTENT_DISPOSITION,
    CONTENT_ENCODING,
    CONTENT_LANGUAGE,
    CONTENT_TYPE,
    ETAG,
    EXPIRES,
    LAST_MODIFIED,
];

/// Headers with digests of the content. A digest covers all bytes that are sent (RFC 9530, 2), so it would be wrong for
/// a part.
const DIGEST_HEADERS: [HeaderName; 2] = [
    HeaderName::from_static("content-digest"),
    HeaderName::from_static("content-md5"),
];

/// The ranges that a request asks for (RFC 9110, 14).
pub struct RangeRequest {
    method: Method,
    wanted: Option<Box<WantedRange>>,
}

/// The ranges that a client wants, and the condition under which it wants them.
struct WantedRange {
    range: HeaderValue,
    if_range: Option<HeaderValue>,
    /// Whether an equal date in `If-Range` shows that the client has bytes of this response.
    trusts_dates: bool,
}

impl RangeRequest {
    /// Reads the headers of a request.
    pub fn of<B>(request: &Request<B>) -> RangeRequest {
        RangeRequest {
            method: request.method().clone(),
            wanted: WantedRange::of(request.headers()).map(Box::new),
        }
    }

    /// Makes a date in `If-Range` match nothing: the client may have got other bytes under the date of the response.
    pub fn distrust_dates(&mut self) {
        if let Some(wanted) = &mut self.wanted {
            wanted.trusts_dates = false;
        }
    }

    /// Cuts the requested ranges out of a file that the application named, or of a stored body. Every other response
    /// stays as it is.
    pub fn apply(&self, mut response: Response<ClientBody>) -> Response<ClientBody> {
        let may_have_ranges = matches!(self.method, Method::GET | Method::HEAD);
        if !may_have_ranges || !offers_ranges(&response) {
            return response;
        }
        let bytes = HeaderValue::from_static("bytes");
        response.headers_mut().insert(ACCEPT_RANGES, bytes);
        let wanted = self
            .wanted
            .as_ref()
            .filter(|wanted| self.method == Method::GET && wanted.applies_to(response.headers()));
        let (Some(whole), Some(wanted)) = (response.body().ranged(), wanted) else {
            return response;
        };
        let (header, body) = match RequestedRanges::of(wanted.range.as_bytes(), whole.length()) {
            RequestedRanges::Whole => return response,
            RequestedRanges::Unsatisfiable => {
                let length = whole.length();
                return unsatisfiable(response, length);
            }
            RequestedRanges::Parts(ranges) => match &ranges[..] {
                [range] => one(&whole, range),
                ranges => several(&whole, ranges, response.headers().get(CONTENT_TYPE)),
            },
        };
        cut(response, header, body)
    }
}

impl WantedRange {
    /// `None` without a single `Range`, or with a condition that never holds.
    fn of(headers: &HeaderMap) -> Option<WantedRange> {
        let range = only(headers, &RANGE)?.clone();
        let if_range = only(headers, &IF_RANGE).cloned();
        let is_repeated = if_range.is_none() && headers.contains_key(IF_RANGE);
        (!is_repeated).then(|| WantedRange {
            range,
            if_range,
            trusts_dates: true,
        })
    }

    /// Whether `If-Range` matches the response: a strong entity tag, or the same date (RFC 9110, 13.1.5). A weak tag
    /// matches nothing. A date does not count if the client may have got other bytes under it.
    fn applies_to(&self, response: &HeaderMap) -> bool {
        let Some(known) = &self.if_range else {
            return true;
        };
        if known.as_bytes().starts_with(b"\"") {
            only(response, &ETAG) == Some(known)
        } else {
            self.trusts_dates && only(response, &LAST_MODIFIED) == Some(known)
        }
    }
}

/// Whether the body can be sent in parts, and the application neither refuses ranges nor handled them itself.
fn offers_ranges(response: &Response<ClientBody>) -> bool {
    let headers = response.headers();
    response.status() == StatusCode::OK
        && response.body().ranged().is_some()
        && !headers.contains_key(CONTENT_RANGE)
        && headers
            .get(ACCEPT_RANGES)
            .is_none_or(|unit| unit == "bytes")
}

/// The value of a header that occurs once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

/// The header that describes a partial body (its range, or the type `multipart/byteranges`), and that body.
type Part = ((HeaderName, HeaderValue), ClientBody);

fn one(whole: &Whole, range: &Range<u64>) -> Part {
    let length = whole.length();
    let numbers = format!("bytes {}-{}/{length}", range.start, range.end - 1);
    let header = (CONTENT_RANGE, value(numbers));
    (header, whole.part(range).into())
}

fn several(whole: &Whole, ranges: &[Range<u64>], content_type: Option<&HeaderValue>) -> Part {
    let boundary = boundary();
    let parts = PartsBody::new(whole, ranges, content_type, &boundary);
    let content_type = format!("multipart/byteranges; boundary={boundary}");
    let header = (CONTENT_TYPE, value(content_type));
    (header, ClientBody::parts(parts))
}

fn cut(
    response: Response<ClientBody>,
    (name, value): (HeaderName, HeaderValue),
    body: ClientBody,
) -> Response<ClientBody> {
    let mut response = response.map(|_whole| body);
    *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    let headers = response.headers_mut();
    for digest in &DIGEST_HEADERS {
        headers.remove(digest);
    }
    headers.insert(name, value);
    if let Some(length) = response.body().length() {
        let headers = response.headers_mut();
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    response
}

fn unsatisfiable(response: Response<ClientBody>, length: u64) -> Response<ClientBody> {
    let mut response = response.map(|_whole| ReplyBody::empty().into());
    *response.status_mut() = StatusCode::RANGE_NOT_SATISFIABLE;
    let headers = response.headers_mut();
    for name in CONTENT_HEADERS.iter().chain(&DIGEST_HEADERS) {
        headers.remove(name);
    }
    headers.insert(CONTENT_RANGE, value(format!("bytes */{length}")));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(0));
    response
}

fn value(text: String) -> HeaderValue {
    HeaderValue::try_from(text).expect("made of ASCII letters and digits")
}
