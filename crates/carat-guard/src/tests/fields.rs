//! The rules of field lines, and the limits of headers.

use super::{LIMITS, assert_accepted, assert_each_refused, assert_refused, get, guard};
use crate::GuardError;

#[test]
fn a_field_name_is_a_token_directly_followed_by_a_colon() {
    assert_accepted(get("x!#$%&'*+-.^_`|~9:\r\n"));
    let fields = "A :|A\t:|:|::|@A:|A\r|A B|A\0|A\u{e9}:|\"A\":|A(b):";
    assert_each_refused(fields, GuardError::FieldName, get);
}

#[test]
fn a_folded_line_is_refused() {
    assert_each_refused("A: b\r\n c|A: b\r\n\tc", GuardError::FoldedLine, get);
    assert_refused("GET / HTTP/1.1\r\n Host: a", GuardError::FoldedLine);
}

#[test]
fn a_field_value_has_no_control_character_except_tab() {
    for byte in 0..=u8::MAX {
        let start = &b"GET / HTTP/1.1\r\nHost: a\r\nA: b"[..];
        let head = [start, &[byte], b"c\r\n\r\n"].concat();
        match byte {
            b'\n' | b'\r' => assert_refused(head, GuardError::BareLineEnd),
            b'\t' | b' '..=b'~' | 0x80.. => assert_accepted(head),
            _ => assert_refused(head, GuardError::FieldValue),
        }
    }
    let values = "\0|some text and \u{7f}";
    assert_each_refused(values, GuardError::FieldValue, |value| {
        format!("GET / HTTP/1.1\r\nA: {value}")
    });
}

#[test]
fn a_connection_field_is_any_text() {
    let values = "|close|Keep-Alive ,,\tclose|, upgrade|close;|\"close\"|keep-a\u{dd}live";
    for value in values.split('|') {
        assert_accepted(get(&format!("Connection: {value}\r\n")));
    }
}

#[test]
fn an_empty_value_is_a_value() {
    assert_accepted(get("A:\r\nB: \r\nC:\t \r\n"));
}

#[test]
fn one_field_more_than_the_limit_is_refused_before_its_name_ends() {
    let most = "A: b\r\n".repeat(LIMITS.max_headers - 1);
    assert_accepted(get(&most));
    let over = format!("GET / HTTP/1.1\r\nHost: a\r\n{most}X");
    assert_refused(over, GuardError::TooManyHeaders);
}

#[test]
fn headers_over_their_limit_are_refused_before_they_end() {
    let value = "b".repeat(LIMITS.max_header_bytes - get("A: \r\n").len());
    let body = "b".repeat(LIMITS.max_header_bytes);
    assert_accepted(get(&format!("A: {value}\r\n")));
    let over = get(&format!("A: {value}b\r\n"));
    assert_refused(over, GuardError::HeaderTooLarge);
    let endless = get(&format!("A: {body}"));
    assert_refused(endless.trim_end(), GuardError::HeaderTooLarge);
    // Bytes after the headers do not count.
    assert_accepted(get(&format!("Content-Length: {}\r\n", body.len())) + &body);
}

#[test]
fn incomplete_headers_never_grow_over_their_limit() {
    let endless = get(&format!("A: {}", "b".repeat(LIMITS.max_header_bytes)));
    let (mut guard, limit) = (guard(), LIMITS.max_header_bytes);
    assert_eq!(guard.pass(&endless.as_bytes()[..limit - 1]), Ok(0));
    let full = guard.pass(&endless.as_bytes()[..limit]);
    assert_eq!(full, Err(GuardError::HeaderTooLarge));
}
