//! One test for each rule, on raw bytes; in this file the rules of complete messages.

mod chunked;
mod fields;
mod framing;
mod request_line;
mod splits;

use super::{Guard, GuardError, HeaderLimits, MessagePosition};

const LIMITS: HeaderLimits = HeaderLimits {
    max_header_bytes: 64 * 1024,
    max_headers: 100,
    max_uri: 16 * 1024,
};

fn guard() -> Guard {
    Guard::new(LIMITS)
}

/// Passes all of `bytes` as a caller does. Returns the bytes that were not passed, or the error.
fn pass_all<'a>(guard: &mut Guard, mut bytes: &'a [u8]) -> Result<&'a [u8], GuardError> {
    loop {
        match guard.pass(bytes)? {
            0 => return Ok(bytes),
            passed => bytes = &bytes[passed..],
        }
    }
}

#[track_caller]
fn assert_accepted(message: impl AsRef<[u8]>) {
    let mut guard = guard();
    assert_eq!(pass_all(&mut guard, message.as_ref()), Ok(&b""[..]));
    assert_eq!(guard.position(), MessagePosition::BetweenMessages);
}

#[track_caller]
fn assert_refused(message: impl AsRef<[u8]>, refusal: GuardError) {
    assert_eq!(pass_all(&mut guard(), message.as_ref()), Err(refusal));
}

/// Each of the texts between `|` makes a message that is refused.
#[track_caller]
fn assert_each_refused(texts: &str, refusal: GuardError, message: impl Fn(&str) -> String) {
    for text in texts.split('|') {
        assert_refused(message(text), refusal);
    }
}

/// A GET whose header lines are `fields`.
fn get(fields: &str) -> String {
    format!("GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n")
}

fn chunked(body: &str) -> String {
    format!("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{body}")
}

fn request_line(line: &str) -> String {
    format!("{line}\r\nHost: a\r\n\r\n")
}

#[test]
fn headers_without_a_body_are_passed_at_once_and_alone() {
    let mut guard = guard();
    assert_eq!(guard.pass(b""), Ok(0));
    let bytes = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /";
    assert_eq!(guard.position(), MessagePosition::BetweenMessages);
    assert_eq!(guard.pass(bytes), Ok(27));
    assert_eq!(guard.position(), MessagePosition::BetweenMessages);
    assert_eq!(guard.pass(&bytes[27..]), Ok(0));
    assert_eq!(guard.position(), MessagePosition::InHeaders);
}

#[test]
fn a_body_of_known_length_ends_where_the_next_message_begins() {
    let mut guard = guard();
    let head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n";
    assert_eq!(guard.pass(head), Ok(head.len()));
    assert_eq!(guard.position(), MessagePosition::InBody);
    assert_eq!(guard.pass(b"he"), Ok(2));
    assert_eq!(guard.position(), MessagePosition::InBody);
    assert_eq!(guard.pass(b"lloGET / HTTP/1.1\r\n"), Ok(3));
    assert_eq!(guard.position(), MessagePosition::BetweenMessages);
}

#[test]
fn a_chunked_body_ends_where_the_next_message_begins() {
    let mut guard = guard();
    let message = chunked("5\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1\r\n");
    let head = guard.pass(message.as_bytes()).unwrap();
    assert_eq!(guard.position(), MessagePosition::InBody);
    assert_eq!(guard.pass(&message.as_bytes()[head..]), Ok(15));
    assert_eq!(guard.position(), MessagePosition::BetweenMessages);
}

#[test]
fn a_pipelined_request_is_not_taken_for_a_body_cve_2020_11077() {
    let message = "GET /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
    let mut guard = guard();
    let twice = message.repeat(2);
    assert_eq!(guard.pass(twice.as_bytes()), Ok(message.len()));
    assert_eq!(guard.position(), MessagePosition::BetweenMessages);
    assert_eq!(guard.pass(message.as_bytes()), Ok(message.len()));
}

#[test]
fn a_refusal_is_final_and_keeps_its_position() {
    let mut in_head = guard();
    let refused = Err(GuardError::RequestLine);
    assert_eq!(in_head.pass(b"\0"), refused);
    assert_eq!(in_head.pass(get("").as_bytes()), refused);
    assert_eq!(in_head.position(), MessagePosition::InHeaders);
    let (mut in_body, message) = (guard(), chunked("x"));
    let refused = pass_all(&mut in_body, message.as_bytes());
    assert_eq!(refused, Err(GuardError::ChunkSize));
    assert_eq!(in_body.position(), MessagePosition::InBody);
}

#[test]
fn each_refusal_has_a_status_and_a_reason() {
    for (refusal, status) in [
        (GuardError::BareLineEnd, 400),
        (GuardError::UriTooLong, 414),
        (GuardError::TooManyHeaders, 431),
        (GuardError::Connect, 501),
        (GuardError::Version, 505),
    ] {
        assert_eq!(refusal.status(), status);
    }
    assert_eq!(GuardError::MissingHost.reason(), "missing Host");
}

#[test]
fn a_guard_takes_few_bytes() {
    assert!(size_of::<Guard>() <= 160, "{}", size_of::<Guard>());
}

#[test]
fn two_blank_lines_before_a_request_are_passed_with_it() {
    assert_accepted(format!("\r\n\r\n{}", get("")));
    assert_accepted(format!("{}\r\n{}", get(""), get("")));
}

#[test]
fn more_blank_lines_are_refused() {
    let mut guard = guard();
    assert_eq!(guard.pass(b"\r\n\r\n\r"), Err(GuardError::BlankLines));
    assert_eq!(guard.position(), MessagePosition::InHeaders);
}

#[test]
fn a_blank_line_does_not_begin_a_message() {
    let mut guard = guard();
    assert_eq!(guard.pass(b"\r\n\r"), Ok(0));
    assert_eq!(guard.position(), MessagePosition::BetweenMessages);
}

#[test]
fn dropped_blank_lines_count_against_the_limit() {
    let mut guard = guard();
    assert_eq!(guard.pass(b"\r\n\r"), Ok(0));
    assert_eq!(guard.take_blank_lines(), 2);
    assert_eq!(guard.take_blank_lines(), 0);
    assert_eq!(guard.pass(b"\r\n"), Ok(0));
    assert_eq!(guard.take_blank_lines(), 2);
    assert_eq!(guard.pass(b"\r\n"), Err(GuardError::BlankLines));
}

#[test]
fn a_request_after_dropped_blank_lines_is_complete() {
    let mut guard = guard();
    assert_eq!(guard.pass(b"\r\n"), Ok(0));
    assert_eq!(guard.take_blank_lines(), 2);
    assert_eq!(guard.pass(b"GET / HT"), Ok(0));
    assert_eq!(guard.take_blank_lines(), 0);
    assert_eq!(guard.pass(get("").as_bytes()), Ok(get("").len()));
}
