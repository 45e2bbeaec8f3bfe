use std::fmt;
use std::sync::LazyLock;

use bytes::Bytes;
use carat_wire::Name;
use carat_wire::response::FAILED;
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING, UPGRADE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Version};

use crate::frames::failure_page::FailurePage;
use carat_exchange::{FileRange, ReplyBody, ReplyContent};
use carat_files::SlowFile;
use carat_log::FieldValue;

const FAILURE: &[u8] = b"Internal Server Error\n";

/// Why a reply is not valid HTTP.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InvalidReply {
    Status(u16),
    Name(String),
    Value(String),
    Length,
    MissingFile,
    TooManyHeaders,
    Upgrade,
}

impl fmt::Display for InvalidReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidReply::Status(status) => write!(f, "{status} is not a status from 200 to 599"),
            InvalidReply::Name(name) => write!(f, "{name:?} is not a valid header name"),
            InvalidReply::Value(name) => write!(
                f,
                "the value of the header {name:?} contains a line end or a control character"
            ),
            InvalidReply::Length => write!(f, "the content-length is not a single number"),
            InvalidReply::TooManyHeaders => {
                write!(f, "there are more headers than a response may have")
            }
            InvalidReply::Upgrade => write!(
                f,
                "status 101 without a header upgrade, or to a request that asks for no upgrade"
            ),
            InvalidReply::MissingFile => write!(f, "the file of the body is missing"),
        }
    }
}

impl FieldValue for InvalidReply {}

/// The names of `carat_wire::NAMES`, ready to use.
static NAMES: LazyLock<Vec<HeaderName>> = LazyLock::new(|| {
    carat_wire::NAMES
        .iter()
        .map(|name| HeaderName::from_static(name))
        .collect()
});

/// Turns a worker's frame, a view of `payload`, into the response to a request. Headers and body share
/// the memory of `payload`. `live` makes a streamed body, or a tunnel that ends in a socket.
pub(crate) fn reply_response(
    sent: &carat_wire::Response<'_>,
    payload: &Bytes,
    request: &Parts,
    file: Option<SlowFile>,
    live: impl FnOnce(Option<SlowFile>) -> ReplyBody,
) -> Result<Response<ReplyBody>, InvalidReply> {
    if sent.status == FAILED {
        return Ok(failure(sent, request));
    }
    let is_tunnel = sent.body == carat_wire::ResponseBody::Tunnel;
    let status = StatusCode::from_u16(sent.status).ok().filter(|status| {
        (200..600).contains(&status.as_u16())
            || (is_tunnel && *status == StatusCode::SWITCHING_PROTOCOLS)
    });
    let status = status.ok_or(InvalidReply::Status(sent.status))?;
    let (headers, has_framing) = headers(sent.headers, payload)?;
    let body = match sent.body {
        carat_wire::ResponseBody::None => ReplyBody::empty(),
        carat_wire::ResponseBody::Inline(bytes) => ReplyBody::full(payload.slice_ref(bytes)),
        carat_wire::ResponseBody::File {
            offset,
            length,
            allows_ranges,
        } => {
            let file = file.ok_or(InvalidReply::MissingFile)?;
            let mut range = FileRange::new(file, offset, length);
            range.allows_ranges = allows_ranges;
            ReplyContent::File(range).into()
        }
        carat_wire::ResponseBody::Stream => live(None),
        carat_wire::ResponseBody::Tunnel => live(Some(file.ok_or(InvalidReply::MissingFile)?)),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    if is_tunnel {
        // After a change of protocol, the application frames its bytes itself.
        return settle_switch(response, request);
    }
    if !has_framing {
        return Ok(response);
    }
    settle_framing(response, request)
}

/// Refuses a change to a protocol that the client did not ask for (RFC 9110, section 7.8): a proxy in front would take
/// what follows for a response.
fn settle_switch(
    response: Response<ReplyBody>,
    request: &Parts,
) -> Result<Response<ReplyBody>, InvalidReply> {
    let switches = response.status() == StatusCode::SWITCHING_PROTOCOLS;
    let is_named = response.headers().contains_key(UPGRADE);
    if switches && !(is_named && asks_for_upgrade(request)) {
        return Err(InvalidReply::Upgrade);
    }
    Ok(response)
}

/// HTTP/1.0 knows no upgrade. On one of several streams of a connection, only a request for a tunnel has these fields.
fn asks_for_upgrade(request: &Parts) -> bool {
    let mut connection = request.headers.get_all(CONNECTION).iter();
    let lists_upgrade = |value: &HeaderValue| {
        let mut options = value.as_bytes().split(|byte| *byte == b',');
        options.any(|option| option.trim_ascii().eq_ignore_ascii_case(b"upgrade"))
    };
    request.version >= Version::HTTP_11
        && request.headers.contains_key(UPGRADE)
        && connection.any(lists_upgrade)
}

/// The response to a request in which the application failed. The log has the cause; in development, so has the
/// response.
fn failure(sent: &carat_wire::Response<'_>, request: &Parts) -> Response<ReplyBody> {
    if let carat_wire::ResponseBody::Inline(report @ [_, ..]) = sent.body {
        let cause = String::from_utf8_lossy(report);
        return FailurePage::raised(&cause).response(request);
    }
    let mut body = ReplyBody::full(Bytes::from_static(FAILURE));
    body.is_failure = true;
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    let text = HeaderValue::from_static("text/plain");
    response.headers_mut().insert(CONTENT_TYPE, text);
    response
}

/// The name of a header, or its bytes when they are not valid.
pub(crate) fn header_name(sent: Name<'_>) -> Result<HeaderName, &[u8]> {
    match sent {
        Name::Known(code) => Ok(NAMES[usize::from(code) - 1].clone()),
        Name::Literal(bytes) => HeaderName::from_bytes(bytes).map_err(|_| bytes),
    }
}

/// Headers, and whether some of them frame the body.
fn headers(
    sent: carat_wire::Headers<'_>,
    payload: &Bytes,
) -> Result<(HeaderMap, bool), InvalidReply> {
    let too_many = |_| InvalidReply::TooManyHeaders;
    let mut headers = HeaderMap::try_with_capacity(sent.len()).map_err(too_many)?;
    let mut has_framing = false;
    for (name, value) in sent {
        let invalid = |name| InvalidReply::Name(String::from_utf8_lossy(name).into_owned());
        let name = header_name(name).map_err(invalid)?;
        let value = HeaderValue::from_maybe_shared(payload.slice_ref(value))
            .map_err(|_| InvalidReply::Value(name.to_string()))?;
        has_framing |= name == CONTENT_LENGTH || name == TRANSFER_ENCODING;
        headers.try_append(name, value).map_err(too_many)?;
    }
    Ok((headers, has_framing))
}

/// Frames the response. A known length takes precedence over the Content-Length of the application, except where
/// there is no body (HEAD, 304). hyper chunks a body of unknown length, so a body with a transfer coding of the
/// application is marked: its chunks are removed first.
fn settle_framing(
    mut response: Response<ReplyBody>,
    request: &Parts,
) -> Result<Response<ReplyBody>, InvalidReply> {
    let status = response.status();
    let bodiless = request.method == Method::HEAD || status == StatusCode::NOT_MODIFIED;
    if response.headers_mut().remove(TRANSFER_ENCODING).is_some() && !bodiless {
        response.headers_mut().remove(CONTENT_LENGTH);
        response = response.map(ReplyBody::chunked);
    }
    let length = response.body().length().filter(|_| !bodiless);
    let headers = response.headers_mut();
    if status == StatusCode::NO_CONTENT {
        headers.remove(CONTENT_LENGTH);
    } else if let Some(declared) = headers.get(CONTENT_LENGTH) {
        let length = length.map_or_else(|| declared_length(declared, headers), Ok)?;
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    Ok(response)
}

/// The Content-Length of the application, for a body of unknown length. Unless it is a single number,
/// hyper drops the response.
fn declared_length(declared: &HeaderValue, headers: &HeaderMap) -> Result<u64, InvalidReply> {
    let text = declared.to_str().map_err(|_| InvalidReply::Length)?;
    let is_one = headers
        .get_all(CONTENT_LENGTH)
        .iter()
        .all(|other| other == declared);
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let length = text.parse().ok().filter(|_| is_one && is_number);
    length.ok_or(InvalidReply::Length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn respond(
        method: &Method,
        headers: &[(&str, &[u8])],
        body: &[u8],
    ) -> Result<Response<ReplyBody>, InvalidReply> {
        let mut encoded = Vec::new();
        for (name, value) in headers {
            carat_wire::push_header(&mut encoded, name, value);
        }
        let head = carat_wire::response::ResponseHead {
            id: 1,
            status: 200,
            app_micros: 0,
        };
        let headers = carat_wire::EncodedHeaders {
            count: u16::try_from(headers.len()).expect("few"),
            fields: &encoded,
        };
        let mut bytes = Vec::new();
        carat_wire::response::encode(&mut bytes, head, headers, |out| {
            carat_wire::response::body::whole(out, body);
        });
        let frame = carat_wire::Frame::first(&bytes)
            .expect("well formed")
            .expect("complete");
        let payload = Bytes::copy_from_slice(frame.payload);
        let sent = carat_wire::Response::decode(&payload).expect("well formed");
        let (request, ()) = http::Request::builder()
            .method(method)
            .body(())
            .expect("a valid request")
            .into_parts();
        reply_response(&sent, &payload, &request, None, |_| {
            unreachable!("not a stream")
        })
    }

    #[test]
    fn a_header_value_with_a_line_end_is_refused() {
        for value in [&b"a\r\nset-cookie: x"[..], b"a\nb", b"a\rb", b"a\0b"] {
            let sent = respond(&Method::GET, &[("location", value)], b"");
            let found = sent.expect_err("refused");
            assert_eq!(found, InvalidReply::Value("location".to_owned()));
        }
    }

    #[test]
    fn a_header_name_that_is_not_a_token_is_refused() {
        let sent = respond(&Method::GET, &[("x y", b"1")], b"");
        let found = sent.expect_err("refused");
        assert_eq!(found, InvalidReply::Name("x y".to_owned()));
    }

    #[test]
    fn repeated_headers_are_not_joined() {
        let response = respond(
            &Method::GET,
            &[("set-cookie", b"a"), ("set-cookie", b"b")],
            b"",
        )
        .expect("valid");
        assert_eq!(response.headers().get_all("set-cookie").iter().count(), 2);
    }

    #[test]
    fn only_a_client_that_asks_for_an_upgrade_gets_another_protocol() {
        let asks = |version, connection: &str, upgrade: Option<&str>| {
            let mut request = http::Request::builder().version(version);
            request = request.header(CONNECTION, connection);
            if let Some(upgrade) = upgrade {
                request = request.header(UPGRADE, upgrade);
            }
            asks_for_upgrade(&request.body(()).expect("a request").into_parts().0)
        };
        for connection in ["Upgrade", "keep-alive, upgrade", "upgrade ,close"] {
            assert!(asks(Version::HTTP_11, connection, Some("websocket")));
            assert!(!asks(Version::HTTP_10, connection, Some("websocket")));
            assert!(asks(Version::HTTP_2, connection, Some("websocket")));
            assert!(!asks(Version::HTTP_11, connection, None));
        }
        assert!(!asks(Version::HTTP_11, "upgrades, x", Some("websocket")));
    }

    #[test]
    fn more_headers_than_the_map_holds_are_refused() {
        let names: Vec<String> = (0..30_000).map(|number| format!("x-{number}")).collect();
        let headers: Vec<(&str, &[u8])> = names.iter().map(|name| (&name[..], &b"1"[..])).collect();
        let response = respond(&Method::GET, &headers, b"");
        assert_eq!(response.expect_err("refused"), InvalidReply::TooManyHeaders);
    }

    #[test]
    fn a_wrong_length_is_corrected_except_in_a_reply_to_head() {
        let response = respond(&Method::GET, &[("content-length", b"99")], b"four").expect("valid");
        assert_eq!(response.headers()[CONTENT_LENGTH], "4");
        let response = respond(&Method::HEAD, &[("content-length", b"99")], b"").expect("valid");
        assert_eq!(response.headers()[CONTENT_LENGTH], "99");
    }

    #[test]
    fn a_declared_length_that_is_not_a_single_number_is_refused() {
        for value in [
            &b""[..],
            b"x",
            b"-1",
            b"+1",
            b"1 1",
            b"1,1",
            b"18446744073709551616",
        ] {
            let sent = respond(&Method::HEAD, &[("content-length", value)], b"");
            assert_eq!(sent.expect_err("refused"), InvalidReply::Length);
        }
        let same = [("content-length", &b"5"[..]), ("content-length", b"5")];
        let response = respond(&Method::HEAD, &same, b"").expect("valid");
        assert_eq!(response.headers().get_all(CONTENT_LENGTH).iter().count(), 1);
        let differ = [("content-length", &b"5"[..]), ("content-length", b"6")];
        assert!(respond(&Method::HEAD, &differ, b"").is_err());
    }
}
