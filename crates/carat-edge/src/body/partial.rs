use std::ops::Range;

use http::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING,
    CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, EXPIRES, IF_RANGE,
    LAST_MODIFIED, RANGE,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};

use super::parts::{PartsBody, boundary};
use super::range::Asked;
use super::{FileBody, ReplyBody};

/// What describes a content that is not sent: the answer to a range that is not there must not be
/// kept or understood as the content.
const OF_THE_CONTENT: [HeaderName; 8] = [
    CACHE_CONTROL,
    CONTENT_DISPOSITION,
    CONTENT_ENCODING,
    CONTENT_LANGUAGE,
    CONTENT_TYPE,
    ETAG,
    EXPIRES,
    LAST_MODIFIED,
];

/// Digests of the bytes that are sent, made for all of them (RFC 9530 2).
const OF_ALL_BYTES: [HeaderName; 2] = [
    HeaderName::from_static("content-digest"),
    HeaderName::from_static("content-md5"),
];

/// Cuts what the request asks for out of a file that the application has named (RFC 9110, 14); any
/// other answer stays as it is. `is_coded` when clients that take a coding get the whole in one.
pub(crate) fn partial(
    mut response: Response<ReplyBody>,
    request: &Parts,
    is_coded: bool,
) -> Response<ReplyBody> {
    if !offers_ranges(&response, request) {
        return response;
    }
    let bytes = HeaderValue::from_static("bytes");
    response.headers_mut().insert(ACCEPT_RANGES, bytes);
    let is_coded = is_coded && request.headers.contains_key(ACCEPT_ENCODING);
    let wanted = wanted(&request.headers, response.headers(), is_coded);
    let (Some(file), Some(range)) = (response.body().ranged_file(), wanted) else {
        return response;
    };
    let length = file.left();
    let (field, body) = match Asked::of(range.as_bytes(), length) {
        Asked::Whole => return response,
        Asked::Nothing => return unsatisfiable(response, length),
        Asked::Parts(ranges) => match &ranges[..] {
            [range] => one(file, range),
            ranges => several(file, ranges, response.headers().get(CONTENT_TYPE)),
        },
    };
    cut(response, field, body)
}

/// Whether ranges mean anything here, and the application neither refuses nor answers them itself.
fn offers_ranges(response: &Response<ReplyBody>, request: &Parts) -> bool {
    let headers = response.headers();
    request.method == Method::GET
        && response.status() == StatusCode::OK
        && response.body().ranged_file().is_some()
        && !headers.contains_key(CONTENT_RANGE)
        && headers
            .get(ACCEPT_RANGES)
            .is_none_or(|unit| unit == "bytes")
}

/// The header that asks for ranges, if it is one and its condition holds.
fn wanted<'a>(
    request: &'a HeaderMap,
    response: &HeaderMap,
    is_coded: bool,
) -> Option<&'a HeaderValue> {
    let range = only(request, &RANGE)?;
    let holds = !request.contains_key(IF_RANGE) || is_unchanged(request, response, is_coded);
    holds.then_some(range)
}

/// Whether `If-Range` names what is answered: a strong entity tag, or the very same date (RFC 9110,
/// 13.1.5). A weak tag is equal to none, and a date does not tell whether the client has begun with
/// the plain bytes or with a coding of them.
fn is_unchanged(request: &HeaderMap, response: &HeaderMap, is_coded: bool) -> bool {
    let Some(known) = only(request, &IF_RANGE) else {
        return false;
    };
    if known.as_bytes().starts_with(b"\"") {
        only(response, &ETAG) == Some(known)
    } else {
        !is_coded && only(response, &LAST_MODIFIED) == Some(known)
    }
}

/// The value of a header that has one.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

/// A header that tells which part the body is.
type Field = (HeaderName, HeaderValue);

fn one(file: &FileBody, range: &Range<u64>) -> (Field, ReplyBody) {
    let figures = format!("bytes {}-{}/{}", range.start, range.end - 1, file.left());
    let field = (CONTENT_RANGE, value(figures));
    (field, ReplyBody::file(file.part(range)))
}

fn several(
    file: &FileBody,
    ranges: &[Range<u64>],
    content_type: Option<&HeaderValue>,
) -> (Field, ReplyBody) {
    let boundary = boundary();
    let parts = PartsBody::new(file, ranges, content_type, &boundary);
    let field = (
        CONTENT_TYPE,
        value(format!("multipart/byteranges; boundary={boundary}")),
    );
    (field, ReplyBody::parts(parts))
}

fn cut(
    response: Response<ReplyBody>,
    (name, value): Field,
    body: ReplyBody,
) -> Response<ReplyBody> {
    let mut response = response.map(|_whole| body);
    *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    let headers = response.headers_mut();
    for digest in &OF_ALL_BYTES {
        headers.remove(digest);
    }
    headers.insert(name, value);
    if let Some(length) = response.body().length() {
        let headers = response.headers_mut();
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    response
}

fn unsatisfiable(response: Response<ReplyBody>, length: u64) -> Response<ReplyBody> {
    let mut response = response.map(|_whole| ReplyBody::empty());
    *response.status_mut() = StatusCode::RANGE_NOT_SATISFIABLE;
    let headers = response.headers_mut();
    for name in OF_THE_CONTENT.iter().chain(&OF_ALL_BYTES) {
        headers.remove(name);
    }
    headers.insert(CONTENT_RANGE, value(format!("bytes */{length}")));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(0));
    response
}

fn value(text: String) -> HeaderValue {
    HeaderValue::try_from(text).expect("made of letters and figures")
}
