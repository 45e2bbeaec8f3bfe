//! The rules of field lines, and the limits of headers.

use super::{LIMITS, assert_accepted, assert_refused, get, guard};
use crate::GuardError;

#[test]
fn a_field_name_is_a_token_directly_followed_by_a_colon() {
    assert_accepted(get("x!#$%&'*+-.^_`|~9:\r\n"));
    for fields in [
        "A :", "A\t:", ":", "::", "@A:", "A\r", "A B", "A\0", "A\u{e9}:", "\"A\":", "A(b):",
    ] {
        assert_refused(get(fields), GuardError::FieldName);
    }
}

#[test]
fn a_folded_line_is_refused() {
    assert_refused(get("A: b\r\n c"), GuardError::FoldedLine);
    assert_refused(get("A: b\r\n\tc"), GuardError::FoldedLine);
    assert_refused("GET / HTTP/1.1\r\n Host: a", GuardError::FoldedLine);
}

#[test]
fn a_field_value_has_no_control_character_except_tab() {
    for byte in 0..=u8::MAX {
        let head = [
            get("").trim_end().as_bytes(),
            b"\r\nA: b",
            &[byte],
            b"c\r\n\r\n",
        ]
        .concat();
        match byte {
            b'\n' | b'\r' => assert_refused(head, GuardError::BareLineEnd),
            b'\t' | b' '..=b'~' | 0x80.. => assert_accepted(head),
            _ => assert_refused(head, GuardError::FieldValue),
        }
    }
}

#[test]
fn a_control_character_is_refused_before_its_line_ends() {
    assert_refused("GET / HTTP/1.1\r\nA: \0", GuardError::FieldValue);
    assert_refused(
        "GET / HTTP/1.1\r\nA: some text and \u{7f}",
        GuardError::FieldValue,
    );
}

#[test]
fn a_connection_field_is_ascii() {
    for value in [
        "",
        "close",
        "Keep-Alive ,,\tclose",
        ", upgrade",
        "close;",
        "\"close\"",
    ] {
        assert_accepted(get(&format!("Connection: {value}\r\n")));
    }
    let headers = get("connection: close, \u{ff}\r\n");
    assert_refused(headers, GuardError::InvalidConnection);
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
    let room = LIMITS.max_header_bytes - get("A: \r\n").len();
    assert_accepted(get(&format!("A: {}\r\n", "b".repeat(room))));
    assert_refused(
        get(&format!("A: {}\r\n", "b".repeat(room + 1))),
        GuardError::HeaderTooLarge,
    );
    let endless = get(&format!("A: {}", "b".repeat(LIMITS.max_header_bytes)));
    assert_refused(endless.trim_end(), GuardError::HeaderTooLarge);
}

#[test]
fn bytes_after_the_headers_do_not_count() {
    let body = "b".repeat(LIMITS.max_header_bytes);
    assert_accepted(get(&format!("Content-Length: {}\r\n", body.len())) + &body);
}

#[test]
fn incomplete_headers_never_grow_over_their_limit() {
    let endless = get(&format!("A: {}", "b".repeat(LIMITS.max_header_bytes)));
    let mut guard = guard();
    assert_eq!(
        guard.pass(&endless.as_bytes()[..LIMITS.max_header_bytes - 1]),
        Ok(0)
    );
    let full = guard.pass(&endless.as_bytes()[..LIMITS.max_header_bytes]);
    assert_eq!(full, Err(GuardError::HeaderTooLarge));
}
