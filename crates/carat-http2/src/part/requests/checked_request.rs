use std::rc::Rc;

use carat_guard::{GuardError, HeaderLimits};
use h2::RecvStream;
use h2::ext::Protocol;
use http::header::{
    CONNECTION, EXPECT, HOST, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, TRANSFER_ENCODING, UPGRADE,
};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};

use super::body::Http2Body;
use super::expectation::Expectation;
use crate::guard::DecodedHead;
use carat_body::request::ReceivedBody;
use carat_exchange::{ConnectionState, MemoryReservation, Refusal};

/// A request in the form of HTTP/1.1, with a target in origin-form and Host.
pub(crate) struct CheckedRequest {
    pub(crate) request: Request<ReceivedBody>,
    /// Set when the client waits until it is asked for the body.
    pub(crate) expectation: Option<Rc<Expectation>>,
    /// The stream on which the client sends into the tunnel that it asks for, and the bytes that it
    /// may send before the tunnel is open.
    pub(crate) tunnel: Option<(RecvStream, MemoryReservation)>,
}

/// A `Sec-WebSocket-Key` for the application if the client has sent none: 16 bytes in base64.
const WEBSOCKET_KEY: &str = "Y2FyYXQgb3ZlciBodHRwMg==";
/// The accept key with which applications answer `WEBSOCKET_KEY`. No client waits for it.
const WEBSOCKET_ACCEPT: &str = "f3Y4KrM3OVMzjMeBUH/95GtQLl0=";

/// Checks a request by the rules of the guard. Afterwards, target, host, and length are where they
/// are in HTTP/1.1.
pub(crate) fn check_request(
    request: Request<RecvStream>,
    window: MemoryReservation,
    state: &Rc<ConnectionState>,
    limits: &HeaderLimits,
) -> Result<CheckedRequest, Refusal> {
    let (mut parts, stream) = request.into_parts();
    let protocol = parts.extensions.remove::<Protocol>();
    if protocol.is_some() {
        parts.method = Method::GET;
    }
    let length = check(&mut parts, limits)?;
    if let Some(protocol) = protocol {
        if length.is_some() {
            return Err(Refusal::Malformed(GuardError::InvalidLength));
        }
        name_upgrade(&mut parts.headers, protocol.as_str())?;
        state.allow_takeover();
        return Ok(CheckedRequest {
            request: Request::from_parts(parts, ReceivedBody::None),
            expectation: None,
            tunnel: Some((stream, window)),
        });
    }
    let has_body = !stream.is_end_stream();
    if has_body && length.is_none() {
        // The application learns, as with HTTP/1.1, that the body has no declared length.
        let chunked = HeaderValue::from_static("chunked");
        parts.headers.insert(TRANSFER_ENCODING, chunked);
    }
    let expects = has_body && parts.headers.contains_key(EXPECT);
    let expectation = expects.then(Rc::<Expectation>::default);
    let body = Http2Body::new(stream, state, length, expectation.clone(), window);
    let body = ReceivedBody::Streamed(Box::new(body));
    Ok(CheckedRequest {
        request: Request::from_parts(parts, body),
        expectation,
        tunnel: None,
    })
}

/// Gives an extended CONNECT the fields of an upgrade in HTTP/1.1, which applications know. The key
/// serves no purpose over HTTP/2 (RFC 8441, section 5.1), but libraries insist on one. Proxies such
/// as Envoy pass on the key of their client, which waits for the answer.
fn name_upgrade(headers: &mut HeaderMap, protocol: &str) -> Result<(), Refusal> {
    // A name, and possibly a version behind a slash (RFC 9110, section 7.8).
    let mut parts = protocol.splitn(2, '/');
    let is_token = |part: &str| HeaderName::from_bytes(part.as_bytes()).is_ok();
    let value = HeaderValue::from_str(protocol).ok();
    let value = value.filter(|_| parts.all(is_token));
    let value = value.ok_or(Refusal::Malformed(GuardError::Connect))?;
    headers.insert(UPGRADE, value);
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    let key = headers.get(SEC_WEBSOCKET_KEY);
    let has_key = key.is_some_and(|key| key.len() == WEBSOCKET_KEY.len());
    if protocol.eq_ignore_ascii_case("websocket") && !has_key {
        headers.insert(SEC_WEBSOCKET_KEY, HeaderValue::from_static(WEBSOCKET_KEY));
    }
    Ok(())
}

/// Leaves out the application's answer to a key that the client has not sent.
pub(crate) fn hide_own_accept(headers: &mut HeaderMap) {
    let accept = headers.get(SEC_WEBSOCKET_ACCEPT);
    if accept.is_some_and(|accept| accept == WEBSOCKET_ACCEPT) {
        headers.remove(SEC_WEBSOCKET_ACCEPT);
    }
}

/// Checks the head, and moves the authority to Host. Returns the declared length of the body.
fn check(parts: &mut Parts, limits: &HeaderLimits) -> Result<Option<u64>, Refusal> {
    // h2 accepts an empty scheme, although a scheme has at least one letter (RFC 3986, section
    // 3.1).
    if parts.uri.scheme_str().is_some_and(str::is_empty) {
        return Err(Refusal::Malformed(GuardError::Target));
    }
    let head = DecodedHead {
        method: parts.method.as_str().as_bytes(),
        authority: parts.uri.authority().map(|it| it.as_str().as_bytes()),
        target: parts.uri.path_and_query().map(target),
    };
    let fields = parts.headers.iter().map(field);
    let fields = head.check(fields, limits).map_err(Refusal::Malformed)?;
    let (has_host, length) = (fields.host.is_some(), fields.length);
    let uri = std::mem::take(&mut parts.uri).into_parts();
    if let (Some(authority), false) = (uri.authority, has_host) {
        let host = HeaderValue::from_str(authority.as_str()).expect("checked");
        parts.headers.insert(HOST, host);
    }
    let path = uri.path_and_query.expect("checked");
    // A copy: the path of h2 would keep the buffer with the whole frame.
    let path = PathAndQuery::try_from(path.as_str()).expect("checked");
    parts.uri = Uri::from(path);
    Ok(length)
}

fn target(target: &PathAndQuery) -> &[u8] {
    target.as_str().as_bytes()
}

fn field<'a>((name, value): (&'a HeaderName, &'a HeaderValue)) -> (&'a [u8], &'a [u8]) {
    (name.as_str().as_bytes(), value.as_bytes())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    const LIMITS: HeaderLimits = HeaderLimits {
        max_header_bytes: 1000,
        max_headers: 10,
        max_uri: 100,
    };

    fn checked(uri: &str, host: Option<&str>) -> Result<Parts, Refusal> {
        let mut request = Request::builder().uri(uri);
        if let Some(host) = host {
            request = request.header(HOST, host);
        }
        let request = request.body(()).expect("a request");
        let (mut parts, ()) = request.into_parts();
        check(&mut parts, &LIMITS).map(|_| parts)
    }

    #[test]
    fn a_request_gets_the_form_of_http_1() {
        let parts = checked("https://a.example:1/x?y=1", None).expect("valid");
        assert_eq!(parts.uri, "/x?y=1");
        assert_eq!(parts.headers[HOST], "a.example:1");
        let parts = checked("/x", Some("b.example")).expect("valid");
        assert_eq!(parts.uri, "/x");
        assert_eq!(parts.headers[HOST], "b.example");
    }

    #[test]
    fn the_target_does_not_keep_the_frame_that_it_came_in() {
        let frame = Bytes::from(vec![b'/'; 9000]);
        let uri = Uri::from_maybe_shared(frame.slice(..5)).expect("a target");
        let (mut parts, ()) = Request::new(()).into_parts();
        parts.uri = uri;
        parts.headers.insert(HOST, HeaderValue::from_static("a"));
        check(&mut parts, &LIMITS).expect("valid");
        assert!(parts.uri == "/////" && frame.is_unique());
    }

    #[test]
    fn an_extended_connect_becomes_an_upgrade() {
        let mut headers = HeaderMap::new();
        assert_eq!(name_upgrade(&mut headers, "websocket"), Ok(()));
        assert_eq!(
            (&headers[UPGRADE], &headers[CONNECTION]),
            (
                &"websocket".parse().expect("a value"),
                &"Upgrade".parse().expect("a value")
            )
        );
        assert!(headers.contains_key(SEC_WEBSOCKET_KEY));
        let mut headers = HeaderMap::new();
        assert_eq!(name_upgrade(&mut headers, "echo/1.0"), Ok(()));
        assert!(!headers.contains_key(SEC_WEBSOCKET_KEY));
        let refused = Err(Refusal::Malformed(GuardError::Connect));
        for wrong in ["", "a b", "a,b", "/", "a/b/c", "a\r\nb"] {
            assert_eq!(name_upgrade(&mut headers, wrong), refused, "{wrong}");
        }
    }

    #[test]
    fn a_client_that_sends_a_key_gets_the_answer_and_others_do_not() {
        let own = "dGhlIHNhbXBsZSBub25jZQ==";
        // RFC 6455, section 1.3.
        let answer = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
        for (sent, passed, accept) in [
            (Some(own), own, answer),
            (Some("short"), WEBSOCKET_KEY, WEBSOCKET_ACCEPT),
            (None, WEBSOCKET_KEY, WEBSOCKET_ACCEPT),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(sent) = sent {
                headers.insert(SEC_WEBSOCKET_KEY, HeaderValue::from_static(sent));
            }
            assert_eq!(name_upgrade(&mut headers, "websocket"), Ok(()));
            assert_eq!(headers[SEC_WEBSOCKET_KEY], passed);
            headers.insert(SEC_WEBSOCKET_ACCEPT, HeaderValue::from_static(accept));
            hide_own_accept(&mut headers);
            assert_eq!(headers.contains_key(SEC_WEBSOCKET_ACCEPT), passed == own);
        }
    }

    #[test]
    fn a_request_for_two_hosts_is_refused() {
        let refused = checked("https://a.example/", Some("b.example")).err();
        let mismatch = Refusal::Malformed(GuardError::AuthorityMismatch);
        assert_eq!(refused, Some(mismatch));
    }
}
