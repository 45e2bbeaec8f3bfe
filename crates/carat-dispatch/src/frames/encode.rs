use std::time::Duration;

use carat_link::Outbox;
use carat_wire::request::{self, RequestBody, RequestHead};
use http::header::{CONTENT_LENGTH, COOKIE, HOST, TRANSFER_ENCODING};
use http::{HeaderName, Version};

use carat_exchange::{Call, CallBody, ProxyFields, RequestTarget, Spool};

static X_REQUEST_START: HeaderName = HeaderName::from_static("x-request-start");
/// The variable in which Puma says how many milliseconds a body took to arrive.
const BODY_WAIT: &str = "puma.request_body_wait";

/// Appends a request to a lane's outbox.
pub(crate) fn encode(outbox: &mut Outbox, id: u32, call: &Call, has_short_window: bool) {
    let body = match &call.body {
        CallBody::None => RequestBody::None,
        CallBody::Inline(body) => RequestBody::Inline(body.bytes()),
        CallBody::Spooled(spool) => RequestBody::File {
            length: spool.length(),
        },
        CallBody::Stream(stream) => RequestBody::Stream {
            length: stream.length(),
        },
    };
    for spool in spools(call) {
        outbox.attach_shared(spool.share_file());
    }
    let target = RequestTarget::of(call);
    let head = RequestHead {
        id,
        method: call.parts.method.as_str().as_bytes(),
        path: target.path.as_bytes(),
        query: target.query.as_bytes(),
        scheme: call.scheme(),
        has_short_window,
        is_from_part: call.is_from_part,
        server_name: target.server_name,
        server_port: target.server_port,
        remote_addr: call.remote().as_bytes(),
        version: version_number(call.parts.version),
    };
    let files = call.files.iter().map(Option::is_some);
    request::encode(outbox.buffer(), &head, body, files, |out| {
        push_headers(out, call)
    });
}

/// The two digits of a version: 11 for HTTP/1.1.
fn version_number(version: Version) -> u8 {
    match version {
        Version::HTTP_11 => 11,
        Version::HTTP_10 => 10,
        other => {
            let name = format!("{other:?}");
            let digits = name.bytes().filter(u8::is_ascii_digit);
            digits.fold(0, |number, digit| 10 * number + (digit - b'0'))
        }
    }
}

/// The files that travel beside a request: its body, and the files that were taken out of a form.
fn spools(call: &Call) -> impl Iterator<Item = &Spool> {
    let body = match &call.body {
        CallBody::Spooled(spool) => Some(spool),
        CallBody::None | CallBody::Inline(_) | CallBody::Stream(_) => None,
    };
    body.into_iter().chain(call.files.iter().flatten())
}

/// Appends the headers that the application sees, each name once, and returns how many there are.
///
/// A name with `_` is dropped: as an environment key it would shadow the same name with `-`, which a proxy may have
/// set. The authority of an absolute target replaces Host (RFC 9112 3.2.2). Content-Length is the number of bytes
/// received and decoded. A body of unknown length is declared as chunked. X-Request-Start is taken from a trusted
/// proxy, if it sent one. `BODY_WAIT` then says how long the body took to arrive: agents subtract it, so that an
/// upload does not count as time in the queue.
fn push_headers(out: &mut Vec<u8>, call: &Call) -> u16 {
    let mut count = 0;
    let mut has_body = false;
    let mut has_proxy_time = false;
    let mut waits_since = call.waits_since;
    let mut joined = JoinedHeaders::default();
    // HeaderMap yields the values of a repeated name one after the other.
    for (name, value) in &call.parts.headers {
        if *name == CONTENT_LENGTH || *name == TRANSFER_ENCODING {
            has_body = true;
            continue;
        }
        if name.as_str().contains('_') {
            continue;
        }
        if waits_since.is_some() && *name == X_REQUEST_START {
            if call.peer.proxy_fields == ProxyFields::Removed {
                continue;
            }
            waits_since = None;
        }
        has_proxy_time |= *name == X_REQUEST_START;
        let value = match call.parts.uri.authority() {
            Some(authority) if *name == HOST => authority.as_str().as_bytes(),
            _ => value.as_bytes(),
        };
        count += joined.push(out, name, value);
    }
    for (name, value) in &call.peer.variables {
        count += 1;
        carat_wire::push_variable(out, name, value);
    }
    if has_proxy_time && call.body_wait_ms > 0 {
        count += 1;
        carat_wire::push_variable(out, BODY_WAIT, call.body_wait_ms.to_string().as_bytes());
    }
    if let Some(since) = waits_since {
        count += joined.push(out, &X_REQUEST_START, &request_start(since));
    }
    if has_body {
        count += match call.body_length() {
            Some(length) => joined.push(out, &CONTENT_LENGTH, length.to_string().as_bytes()),
            // Without either header, an application assumes that there is no body.
            None => joined.push(out, &TRANSFER_ENCODING, b"chunked"),
        };
    }
    count
}

/// Seconds since 1970 with milliseconds, as nginx writes `t=${msec}`.
fn request_start(since: Duration) -> [u8; 16] {
    let mut text = *b"t=0000000000.000";
    let mut milliseconds = since.as_secs() * 1000 + u64::from(since.subsec_millis());
    for place in text[2..].iter_mut().rev().filter(|place| **place == b'0') {
        *place += u8::try_from(milliseconds % 10).unwrap_or_default();
        milliseconds /= 10;
    }
    text
}

/// Appends headers and joins the values of a repeated name (RFC 9110 5.3; cookies by RFC 6265 5.4).
#[derive(Default)]
struct JoinedHeaders<'a> {
    last: Option<(&'a HeaderName, usize)>,
}

impl<'a> JoinedHeaders<'a> {
    /// Appends a value. Returns 1 for a new header, 0 for a further value of the last one.
    fn push(&mut self, out: &mut Vec<u8>, name: &'a HeaderName, value: &[u8]) -> u16 {
        if let Some((_, offset)) = self.last.filter(|(last, _)| *last == name) {
            let separator: &[u8] = if *name == COOKIE { b"; " } else { b", " };
            carat_wire::extend_header(out, offset, &[separator, value]);
            return 0;
        }
        self.last = Some((name, carat_wire::push_header(out, name.as_str(), value)));
        1
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use carat_wire::Name;
    use http::{HeaderValue, Request};

    use super::*;
    use carat_exchange::{ClientMemory, InlineBytes, Peer};

    fn headers_seen(request: http::request::Builder, body: CallBody) -> Vec<(String, String)> {
        let (parts, ()) = request.body(()).expect("a valid request").into_parts();
        let peer = Rc::new(Peer::new("127.0.0.1".to_owned(), false, 80, None));
        let mut call = Call::new(parts, peer, ClientMemory::new(u64::MAX).account());
        call.body = body;
        seen(&call)
    }

    /// Asserts that the application sees these header fields, and no others.
    #[track_caller]
    fn assert_seen(request: http::request::Builder, body: CallBody, expected: &[(&str, &str)]) {
        let seen = headers_seen(request, body);
        let seen: Vec<_> = seen
            .iter()
            .map(|(name, value)| (&name[..], &value[..]))
            .collect();
        assert_eq!(seen, expected);
    }

    fn seen(call: &Call) -> Vec<(String, String)> {
        let mut outbox = Outbox::default();
        encode(&mut outbox, 1, call, false);
        let frame = carat_wire::Frame::first(outbox.buffer())
            .expect("well formed")
            .expect("complete");
        let request = carat_wire::Request::decode(frame.payload).expect("well formed");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let name = |name: Name<'_>| match name {
            Name::Known(code) => carat_wire::name_of(code).expect("known").to_owned(),
            Name::Literal(bytes) => text(bytes),
        };
        request
            .headers
            .map(|(header, value)| (name(header), text(value)))
            .collect()
    }

    #[test]
    fn each_version_has_its_digits() {
        let versions = [Version::HTTP_10, Version::HTTP_11, Version::HTTP_2];
        assert_eq!(versions.map(version_number), [10, 11, 20]);
    }

    #[test]
    fn repeated_headers_are_joined_and_cookies_with_semicolons() {
        let request = Request::builder()
            .header("x-odd", "1")
            .header("cookie", "a=1")
            .header("x-odd", "2")
            .header("cookie", "b=2");
        let expected = [("x-odd", "1, 2"), ("cookie", "a=1; b=2")];
        assert_seen(request, CallBody::None, &expected);
    }

    #[test]
    fn the_authority_of_an_absolute_target_replaces_host() {
        let request = Request::builder().uri("http://real:81/x");
        let request = request.header("host", "other");
        assert_seen(request, CallBody::None, &[("host", "real:81")]);
    }

    #[test]
    fn a_name_with_an_underscore_is_dropped() {
        let request = Request::builder().header("x_forwarded_for", "evil");
        assert_seen(request, CallBody::None, &[]);
    }

    fn request_start_seen(fields: ProxyFields, given: Option<&'static str>) -> String {
        let mut call = Call::plain("GET", "/");
        Rc::get_mut(&mut call.peer).expect("unshared").proxy_fields = fields;
        if let Some(given) = given {
            let headers = &mut call.parts.headers;
            headers.insert(&X_REQUEST_START, HeaderValue::from_static(given));
        }
        call.waits_since = Some(Duration::from_micros(1_700_000_000_001_999));
        let [(name, value)] = &seen(&call)[..] else {
            panic!("not one header");
        };
        assert_eq!(name, "x-request-start");
        value.clone()
    }

    #[test]
    fn the_application_gets_the_time_in_milliseconds_unless_a_proxy_has_set_it() {
        for fields in [ProxyFields::Ignored, ProxyFields::Believed] {
            assert_eq!(request_start_seen(fields, None), "t=1700000000.001");
            assert_eq!(request_start_seen(fields, Some("t=1.5")), "t=1.5");
        }
    }

    #[test]
    fn nobody_else_can_make_up_a_time() {
        let seen = request_start_seen(ProxyFields::Removed, Some("t=1.5"));
        assert_eq!(seen, "t=1700000000.001");
    }

    #[test]
    fn an_upload_is_told_beside_the_time_of_a_proxy_which_came_before_it() {
        for (given, expected) in [(Some("t=1.5"), true), (None, false)] {
            let mut call = Call::plain("POST", "/");
            call.body_wait_ms = 1500;
            call.waits_since = Some(Duration::from_secs(1));
            if let Some(given) = given {
                let headers = &mut call.parts.headers;
                headers.insert(&X_REQUEST_START, HeaderValue::from_static(given));
            }
            let told = (":puma.request_body_wait".to_owned(), "1500".to_owned());
            assert_eq!(seen(&call).contains(&told), expected);
        }
    }

    #[test]
    fn a_body_has_the_length_that_was_received() {
        let chunked = CallBody::Inline(InlineBytes::plain(b"hello"));
        for (field, value, body, length) in [
            ("content-length", "0", CallBody::None, "0"),
            ("transfer-encoding", "chunked", chunked, "5"),
        ] {
            let request = Request::builder().header(field, value);
            assert_seen(request, body, &[("content-length", length)]);
        }
    }
}
