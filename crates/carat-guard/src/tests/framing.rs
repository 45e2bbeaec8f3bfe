//! The rules of Host, Content-Length and Transfer-Encoding.

use super::{assert_accepted, assert_each_refused, assert_refused, get, guard};
use crate::http1::LENGTH_LIMIT;
use crate::{GuardError, MessagePosition};

fn with_length(length: &str) -> String {
    get(&format!("Content-Length:{length}\r\n"))
}

fn with_coding(coding: &str) -> String {
    get(&format!("Transfer-Encoding: {coding}\r\n"))
}

#[test]
fn http_1_1_needs_a_host_and_http_1_0_does_not() {
    for fields in ["", "X-Host: a\r\n"] {
        let head = format!("GET / HTTP/1.1\r\n{fields}\r\n");
        assert_refused(head, GuardError::MissingHost);
    }
    assert_accepted("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
}

#[test]
fn a_second_host_is_refused_even_if_equal() {
    let old = "GET / HTTP/1.0\r\nHost: a\r\nHOST: b\r\n";
    assert_refused(get("host: a\r\n"), GuardError::RepeatedHost);
    assert_refused(old, GuardError::RepeatedHost);
}

#[test]
fn an_invalid_host_is_refused() {
    let hosts = "| |a b|a, b|b@a|a/b|a:b|a\\b";
    assert_each_refused(hosts, GuardError::InvalidHost, |host| {
        format!("GET / HTTP/1.1\r\nHost: {host}\r\n")
    });
    assert_accepted("GET / HTTP/1.1\r\nHost:\t[::1]:80 \t\r\n\r\n");
}

#[test]
fn a_content_length_is_digits_only_cve_2022_24790_cve_2023_38697_cve_2023_40175() {
    let lengths = "+1|-1|0x1|1 1|1,1|1, 1|1.0|1e1|a|\u{b2}|1;|1_0|| \t ";
    assert_each_refused(lengths, GuardError::InvalidLength, with_length);
}

#[test]
fn a_content_length_that_overflows_is_refused() {
    let (over, most) = (LENGTH_LIMIT + 1, u64::MAX);
    let lengths = format!("{over}|{most}|18446744073709551617");
    assert_each_refused(&lengths, GuardError::InvalidLength, with_length);
    let mut guard = guard();
    let longest = with_length(&LENGTH_LIMIT.to_string());
    assert_eq!(guard.pass(longest.as_bytes()), Ok(longest.len()));
    assert_eq!(guard.position(), MessagePosition::InBody);
}

#[test]
fn leading_zeros_do_not_change_a_content_length() {
    assert_accepted(with_length(" 0000000000000000000000000003") + "abc");
}

#[test]
fn fields_that_frame_a_message_come_once_and_alone_cve_2022_24790_cve_2020_7670() {
    let length = "Content-Length: 3\r\n";
    let coding = "Transfer-Encoding: chunked\r\n";
    for (one, other, refusal) in [
        (length, "Content-length: 3\r\n", GuardError::RepeatedLength),
        (coding, coding, GuardError::RepeatedCoding),
        (length, coding, GuardError::LengthBesideCoding),
        (coding, length, GuardError::LengthBesideCoding),
    ] {
        assert_refused(get(&format!("{one}{other}")), refusal);
    }
}

#[test]
fn a_name_with_an_underscore_does_not_frame_a_message() {
    assert_accepted(get("Content_Length: 9\r\nTransfer_Encoding: chunked\r\n"));
}

#[test]
fn chunked_has_no_case() {
    assert_accepted(get("transfer-ENCODING: \tChunkeD \r\n") + "0\r\n\r\n");
}

#[test]
fn a_coding_before_chunked_is_not_implemented() {
    let codings = "gzip, chunked|gzip,chunked|identity, chunked|a,\tb , chunked";
    assert_each_refused(codings, GuardError::UnknownCoding, with_coding);
}

#[test]
fn a_transfer_encoding_must_end_in_one_chunked_cve_2020_11076() {
    let codings = "|gzip|identity|xchunked|chunkedx|chunked;q=1|\"chunked\"|chunked, gzip|\
        chunked, chunked|chunked,|,chunked|gzip chunked|chunked chunked|gzip;q=1, chunked";
    assert_each_refused(codings, GuardError::InvalidCoding, with_coding);
}

#[test]
fn transfer_encoding_in_http_1_0_is_refused() {
    let head = "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n";
    assert_refused(head, GuardError::CodingInHttp10);
}
