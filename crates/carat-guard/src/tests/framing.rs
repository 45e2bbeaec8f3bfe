//! The rules of Host, Content-Length and Transfer-Encoding.

use super::{assert_accepted, assert_refused, get, guard};
use crate::http1::LENGTH_LIMIT;
use crate::{GuardError, MessagePosition};

#[test]
fn http_1_1_needs_a_host_and_http_1_0_does_not() {
    assert_refused("GET / HTTP/1.1\r\n\r\n", GuardError::MissingHost);
    assert_refused(
        "GET / HTTP/1.1\r\nX-Host: a\r\n\r\n",
        GuardError::MissingHost,
    );
    assert_accepted("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
}

#[test]
fn a_second_host_is_refused_even_if_equal() {
    assert_refused(get("host: a\r\n"), GuardError::RepeatedHost);
    assert_refused(
        "GET / HTTP/1.0\r\nHost: a\r\nHOST: b\r\n",
        GuardError::RepeatedHost,
    );
}

#[test]
fn an_invalid_host_is_refused() {
    for host in ["", " ", "a b", "a, b", "b@a", "a/b", "a:b", "a\\b"] {
        assert_refused(
            format!("GET / HTTP/1.1\r\nHost: {host}\r\n"),
            GuardError::InvalidHost,
        );
    }
    assert_accepted("GET / HTTP/1.1\r\nHost:\t[::1]:80 \t\r\n\r\n");
}

#[test]
fn a_content_length_is_digits_only_cve_2022_24790_cve_2023_38697() {
    for length in [
        "+1", "-1", "0x1", "1 1", "1,1", "1, 1", "1.0", "1e1", "a", "\u{b2}", "1;", "1_0",
    ] {
        assert_refused(
            get(&format!("Content-Length: {length}\r\n")),
            GuardError::InvalidLength,
        );
    }
}

#[test]
fn a_blank_content_length_is_refused_cve_2023_40175() {
    assert_refused(get("Content-Length:\r\n"), GuardError::InvalidLength);
    assert_refused(get("Content-Length: \t \r\n"), GuardError::InvalidLength);
}

#[test]
fn a_content_length_that_overflows_is_refused() {
    for length in [LENGTH_LIMIT + 1, u64::MAX] {
        assert_refused(
            get(&format!("Content-Length: {length}\r\n")),
            GuardError::InvalidLength,
        );
    }
    assert_refused(
        get("Content-Length: 18446744073709551617\r\n"),
        GuardError::InvalidLength,
    );
    let mut guard = guard();
    let longest = get(&format!("Content-Length: {LENGTH_LIMIT}\r\n"));
    assert_eq!(guard.pass(longest.as_bytes()), Ok(longest.len()));
    assert_eq!(guard.position(), MessagePosition::InBody);
}

#[test]
fn leading_zeros_do_not_change_a_content_length() {
    assert_accepted(get("Content-Length: 0000000000000000000000000003\r\n") + "abc");
}

#[test]
fn a_second_content_length_is_refused_cve_2022_24790_cve_2020_7670() {
    let fields = "Content-Length: 3\r\nContent-length: 3\r\n";
    assert_refused(get(fields), GuardError::RepeatedLength);
}

#[test]
fn a_name_with_an_underscore_does_not_frame_a_message() {
    assert_accepted(get("Content_Length: 9\r\nTransfer_Encoding: chunked\r\n"));
}

#[test]
fn content_length_beside_transfer_encoding_is_refused_in_either_order() {
    let length = "Content-Length: 3\r\n";
    let coding = "Transfer-Encoding: chunked\r\n";
    assert_refused(
        get(&format!("{length}{coding}")),
        GuardError::LengthBesideCoding,
    );
    assert_refused(
        get(&format!("{coding}{length}")),
        GuardError::LengthBesideCoding,
    );
}

#[test]
fn chunked_has_no_case() {
    assert_accepted(get("transfer-ENCODING: \tChunkeD \r\n") + "0\r\n\r\n");
}

#[test]
fn a_second_transfer_encoding_is_refused_cve_2020_7670() {
    let coding = "Transfer-Encoding: chunked\r\n";
    assert_refused(get(&coding.repeat(2)), GuardError::RepeatedCoding);
}

#[test]
fn a_coding_before_chunked_is_not_implemented() {
    for coding in [
        "gzip, chunked",
        "gzip,chunked",
        "identity, chunked",
        "a,\tb , chunked",
    ] {
        assert_refused(
            get(&format!("Transfer-Encoding: {coding}\r\n")),
            GuardError::UnknownCoding,
        );
    }
}

#[test]
fn a_transfer_encoding_must_end_in_one_chunked_cve_2020_11076() {
    for coding in [
        "",
        "gzip",
        "identity",
        "xchunked",
        "chunkedx",
        "chunked;q=1",
        "\"chunked\"",
        "chunked, gzip",
        "chunked, chunked",
        "chunked,",
        ",chunked",
        "gzip chunked",
        "chunked chunked",
        "gzip;q=1, chunked",
    ] {
        assert_refused(
            get(&format!("Transfer-Encoding: {coding}\r\n")),
            GuardError::InvalidCoding,
        );
    }
}

#[test]
fn transfer_encoding_in_http_1_0_is_refused() {
    let head = "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n";
    assert_refused(head, GuardError::CodingInHttp10);
}
