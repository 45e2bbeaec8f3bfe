//! Line ends, and the rules of a request line.

use super::{LIMITS, assert_accepted, assert_each_refused, assert_refused, request_line};
use crate::GuardError;
use crate::http1::METHOD_LIMIT;

/// The bytes of `head`, unchanged.
fn raw(head: &str) -> String {
    head.to_owned()
}

fn with_target(target: &str) -> String {
    request_line(&format!("GET {target} HTTP/1.1"))
}

fn with_version(version: &str) -> String {
    format!("GET / {version}")
}

#[test]
fn a_bare_lf_in_headers_is_refused_as_soon_as_it_arrives_cve_2021_41136() {
    let heads = "\n|GET\n|GET /\n|GET / HTTP/1.1\n|GET / HTTP/1.1\r\n\n|\
        GET / HTTP/1.1\r\nHost\n|GET / HTTP/1.1\r\nHost: a\n|GET / HTTP/1.1\r\nHost: a\r\n\n";
    assert_each_refused(heads, GuardError::BareLineEnd, raw);
}

#[test]
fn a_bare_cr_in_headers_is_refused_as_soon_as_another_byte_follows() {
    let heads = "\rG|GET / HTTP/1.1\rH|GET / HTTP/1.1\r\r|GET / HTTP/1.1\r\nHost: a\rb|\
        GET / HTTP/1.1\r\nHost: a\r\r|GET / HTTP/1.1\r\nHost: a\r\n\rG";
    assert_each_refused(heads, GuardError::BareLineEnd, raw);
    assert_refused("GET /\r", GuardError::RequestLine);
    assert_refused("GET / HTTP/1.1\r\nHost\r", GuardError::FieldName);
}

#[test]
fn a_method_is_a_token() {
    assert_accepted(request_line("PROPFIND / HTTP/1.1"));
    assert_accepted(request_line("x!#$%&'*+-.^_`|~9 / HTTP/1.1"));
    let lines = "G@T /| GET /|\tGET /|GET\t/|(GET) /|\u{16}\u{3}\u{1}|G\u{e9}T /";
    assert_each_refused(lines, GuardError::RequestLine, raw);
}

#[test]
fn a_method_that_is_connect_or_longer_than_any_known_one_is_not_implemented() {
    let longest = "M".repeat(METHOD_LIMIT);
    assert_accepted(request_line(&format!("{longest} / HTTP/1.1")));
    assert_refused(format!("{longest}M"), GuardError::MethodTooLong);
    assert_refused("CONNECT a:80 HTTP/1.1\r\n", GuardError::Connect);
}

#[test]
fn a_request_line_has_exactly_three_parts() {
    let lines = "GET|GET /|GET  / HTTP/1.1|GET  HTTP/1.1| / HTTP/1.1|GET /a b HTTP/1.1|\
        GET /\tHTTP/1.1|GET /  HTTP/1.1|GET / HTTP/1.1 |GET HTTP/1.1";
    assert_each_refused(lines, GuardError::RequestLine, request_line);
}

#[test]
fn a_target_is_visible_ascii_or_other_utf8() {
    assert_accepted(with_target(
        "/!\"$%&'()*+,-./:;=@[\\]^_{|}~?!$%&'()*+,-./:;=?@[\\]^_`{|}~",
    ));
    assert_accepted(with_target("/caf\u{e9}?q=\u{1f355}"));
    assert_accepted(with_target("http://a/caf\u{e9}"));
    for target in [
        &b"/\xe9"[..],
        b"/?\xe9",
        b"/\xc0\xaf",
        b"/\xed\xa0\x80",
        b"http://a\xc3\xa9/",
    ] {
        let line = [b"GET ", target, b" HTTP/1.1\r\n"].concat();
        assert_refused(line, GuardError::Target);
    }
    for byte in (0..b' ').chain([0x7f]) {
        let is_line_end = byte == b'\n';
        let refusal = [GuardError::RequestLine, GuardError::BareLineEnd][usize::from(is_line_end)];
        assert_refused([b"GET /", &[byte][..]].concat(), refusal);
    }
}

#[test]
fn a_target_has_the_bytes_that_the_http_crate_accepts() {
    for byte in (0x21..0x7f).filter(|byte| !b"#?".contains(byte)) {
        let byte = char::from(byte);
        for target in [format!("/a{byte}"), format!("/a?b{byte}")] {
            match target.parse::<http::Uri>() {
                Ok(_) => assert_accepted(with_target(&target)),
                Err(_) => assert_refused(with_target(&target), GuardError::Target),
            }
        }
    }
}

#[test]
fn a_target_has_one_of_the_forms_of_the_rfc_and_no_fragment() {
    assert_accepted(request_line("OPTIONS * HTTP/1.1"));
    for target in "http://a|HTTPS://a:443/b?c|http://a!&*b.org/".split('|') {
        assert_accepted(with_target(target));
    }
    let targets = "*|a|a:80|?a|ftp://a/|http:/a|http:///a|http://b@a/|http://a%12b!&*ad.org/";
    assert_each_refused(targets, GuardError::Target, with_target);
    assert_each_refused("GET /a#|GET #", GuardError::Target, raw);
}

#[test]
fn a_target_over_its_limit_is_refused_before_it_ends() {
    let longest = format!("/{}", "u".repeat(LIMITS.max_uri - 1));
    assert_accepted(with_target(&longest));
    assert_refused(format!("GET {longest}u"), GuardError::UriTooLong);
}

#[test]
fn only_major_version_1_is_served() {
    assert_accepted("GET / HTTP/1.0\r\n\r\n");
    let versions = "HTTP/2.0|HTTP/0.9|HTTP/3.1";
    assert_each_refused(versions, GuardError::Version, with_version);
    // The preface of HTTP/2 is answered with the versions that are spoken.
    assert_refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", GuardError::Version);
    let others = "http/1.1|HTTP/1,1|HTTP/x|HTTP 1.1|HTTP/1.10|HTTP/11|ICE/1.0|\r\n";
    assert_each_refused(others, GuardError::RequestLine, with_version);
}

#[test]
fn a_higher_minor_version_is_framed_and_reported_as_1_1() {
    let mut guard = super::guard();
    let request = b"\r\nGET /a HTTP/1.9\r\nHost: a\r\n\r\n";
    assert_eq!(guard.pass(request), Ok(request.len()));
    let minor = guard.take_higher_minor().map(|index| request[index]);
    assert_eq!((minor, guard.take_higher_minor()), (Some(b'9'), None));
    let request = super::get("");
    assert_eq!(guard.pass(request.as_bytes()), Ok(request.len()));
    assert_eq!(guard.take_higher_minor(), None);
    assert_refused("GET / HTTP/1.2\r\n\r\n", GuardError::MissingHost);
}
