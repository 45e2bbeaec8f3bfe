//! Line ends, and the rules of a request line.

use super::{LIMITS, assert_accepted, assert_refused, request_line};
use crate::GuardError;
use crate::http1::METHOD_LIMIT;

#[test]
fn a_bare_lf_in_headers_is_refused_as_soon_as_it_arrives_cve_2021_41136() {
    for head in [
        "\n",
        "GET\n",
        "GET /\n",
        "GET / HTTP/1.1\n",
        "GET / HTTP/1.1\r\n\n",
        "GET / HTTP/1.1\r\nHost\n",
        "GET / HTTP/1.1\r\nHost: a\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\n",
    ] {
        assert_refused(head, GuardError::BareLineEnd);
    }
}

#[test]
fn a_bare_cr_in_headers_is_refused_as_soon_as_another_byte_follows() {
    for head in [
        "\rG",
        "GET / HTTP/1.1\rH",
        "GET / HTTP/1.1\r\r",
        "GET / HTTP/1.1\r\nHost: a\rb",
        "GET / HTTP/1.1\r\nHost: a\r\r",
        "GET / HTTP/1.1\r\nHost: a\r\n\rG",
    ] {
        assert_refused(head, GuardError::BareLineEnd);
    }
    assert_refused("GET /\r", GuardError::RequestLine);
    assert_refused("GET / HTTP/1.1\r\nHost\r", GuardError::FieldName);
}

#[test]
fn a_method_is_a_token() {
    assert_accepted(request_line("PROPFIND / HTTP/1.1"));
    assert_accepted(request_line("x!#$%&'*+-.^_`|~9 / HTTP/1.1"));
    for line in [
        "G@T /",
        " GET /",
        "\tGET /",
        "GET\t/",
        "(GET) /",
        "\u{16}\u{3}\u{1}",
        "G\u{e9}T /",
    ] {
        assert_refused(line, GuardError::RequestLine);
    }
}

#[test]
fn a_method_longer_than_any_known_one_is_not_implemented() {
    let longest = "M".repeat(METHOD_LIMIT);
    assert_accepted(request_line(&format!("{longest} / HTTP/1.1")));
    assert_refused(format!("{longest}M"), GuardError::MethodTooLong);
}

#[test]
fn connect_is_not_implemented() {
    assert_refused("CONNECT a:80 HTTP/1.1\r\n", GuardError::Connect);
}

#[test]
fn a_request_line_has_exactly_three_parts() {
    for line in [
        "GET",
        "GET /",
        "GET  / HTTP/1.1",
        "GET  HTTP/1.1",
        " / HTTP/1.1",
        "GET /a b HTTP/1.1",
        "GET /\tHTTP/1.1",
        "GET /  HTTP/1.1",
        "GET / HTTP/1.1 ",
        "GET HTTP/1.1",
    ] {
        assert_refused(request_line(line), GuardError::RequestLine);
    }
}

#[test]
fn a_target_is_visible_ascii() {
    assert_accepted(request_line(
        "GET /!\"$%&'()*+,-./:;=@[\\]^_{|}~?!$%&'()*+,-./:;=?@[\\]^_`{|}~ HTTP/1.1",
    ));
    for byte in (0..=b' ').chain(0x7f..=0xff) {
        let refusal = match byte {
            b'\n' => GuardError::BareLineEnd,
            b' ' => continue,
            _ => GuardError::RequestLine,
        };
        assert_refused([b"GET /", &[byte][..]].concat(), refusal);
    }
}

#[test]
fn a_target_has_the_bytes_that_the_http_crate_accepts() {
    for byte in (0x21..0x7f).filter(|byte| !b"#?".contains(byte)) {
        let byte = char::from(byte);
        for target in [format!("/a{byte}"), format!("/a?b{byte}")] {
            let line = request_line(&format!("GET {target} HTTP/1.1"));
            match target.parse::<http::Uri>() {
                Ok(_) => assert_accepted(line),
                Err(_) => assert_refused(line, GuardError::Target),
            }
        }
    }
}

#[test]
fn a_target_has_no_fragment() {
    assert_refused("GET /a#", GuardError::Target);
    assert_refused("GET #", GuardError::Target);
}

#[test]
fn a_target_has_one_of_the_forms_of_the_rfc() {
    for line in [
        "OPTIONS * HTTP/1.1",
        "GET http://a HTTP/1.1",
        "GET HTTPS://a:443/b?c HTTP/1.1",
        "GET http://a!&*b.org/ HTTP/1.1",
    ] {
        assert_accepted(request_line(line));
    }
    for line in [
        "GET * HTTP/1.1",
        "GET a HTTP/1.1",
        "GET a:80 HTTP/1.1",
        "GET ?a HTTP/1.1",
        "GET ftp://a/ HTTP/1.1",
        "GET http:/a HTTP/1.1",
        "GET http:///a HTTP/1.1",
        "GET http://b@a/ HTTP/1.1",
        "GET http://a%12b!&*ad.org/ HTTP/1.1",
    ] {
        assert_refused(request_line(line), GuardError::Target);
    }
}

#[test]
fn a_target_over_its_limit_is_refused_before_it_ends() {
    let longest = format!("/{}", "u".repeat(LIMITS.max_uri - 1));
    assert_accepted(request_line(&format!("GET {longest} HTTP/1.1")));
    assert_refused(format!("GET {longest}u"), GuardError::UriTooLong);
}

#[test]
fn only_major_version_1_is_served() {
    assert_accepted("GET / HTTP/1.0\r\n\r\n");
    for version in ["HTTP/2.0", "HTTP/0.9", "HTTP/3.1"] {
        assert_refused(format!("GET / {version}"), GuardError::Version);
    }
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

#[test]
fn the_preface_of_http_2_is_answered_with_the_versions_that_are_spoken() {
    assert_refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", GuardError::Version);
}

#[test]
fn anything_else_in_the_place_of_the_version_is_garbage() {
    for version in [
        "http/1.1",
        "HTTP/1,1",
        "HTTP/x",
        "HTTP 1.1",
        "HTTP/1.10",
        "HTTP/11",
        "ICE/1.0",
        "\r\n",
    ] {
        assert_refused(format!("GET / {version}"), GuardError::RequestLine);
    }
}
