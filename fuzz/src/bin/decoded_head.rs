//! A request of HTTP/2 that is accepted could have come over HTTP/1.1: the guard of that protocol accepts it, too, and
//! sees the same host and the same length.
#![no_main]

use carat_fuzz::{Body, Input, Message};
use carat_guard::{Guard, HeaderLimits};
use carat_http2::{DecodedFields, DecodedHead};
use libfuzzer_sys::fuzz_target;

const LIMITS: HeaderLimits = HeaderLimits {
    max_header_bytes: 1024 * 1024,
    max_headers: 8,
    max_uri: 100,
};

/// A line as name and value.
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    let at = line.iter().position(|byte| *byte == b':');
    let (name, value) = line.split_at(at.unwrap_or(line.len()));
    (name, value.get(1..).unwrap_or_default())
}

/// What h2 returns: it has refused names in upper case and control characters in values.
fn is_decoded((name, value): &(&[u8], &[u8])) -> bool {
    let is_token = |byte: &u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(byte)
    };
    let is_text = |byte: &u8| matches!(byte, b'\t' | b' '..=b'~' | 0x80..);
    !name.is_empty() && name.iter().all(is_token) && value.iter().all(is_text)
}

/// The same request in HTTP/1.1.
fn message(head: &DecodedHead<'_>, fields: &[(&[u8], &[u8])], seen: &DecodedFields<'_>) -> Vec<u8> {
    let target = head.target.expect("checked");
    let mut bytes = [head.method, b" ", target, b" HTTP/1.1\r\n"].concat();
    if seen.host.is_none() {
        let host = head.authority.expect("checked");
        bytes.extend([b"host: ", host, b"\r\n"].concat());
    }
    for (name, value) in fields {
        bytes.extend([name, &b": "[..], value, b"\r\n"].concat());
    }
    bytes.extend(b"\r\n");
    bytes
}

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::read(data) else {
        return;
    };
    let mut lines = input.bytes.split(|byte| *byte == b'\n');
    let mut next = || lines.next().unwrap_or_default();
    let (method, target, authority) = (next(), next(), next());
    let head = DecodedHead {
        method,
        target: Some(target),
        authority: (input.option % 2 == 0).then_some(authority),
    };
    let fields: Vec<_> = lines.map(field).filter(is_decoded).collect();
    let Ok(seen) = head.check(fields.iter().copied(), &LIMITS) else {
        return;
    };
    let bytes = message(&head, &fields, &seen);
    let limits = HeaderLimits {
        max_headers: LIMITS.max_headers + 1,
        ..LIMITS
    };
    let passed = Guard::new(limits).pass(&bytes);
    assert!(
        passed.is_ok_and(|length| length > 0),
        "{passed:?} {bytes:?}"
    );
    let read = Message::read(&bytes).expect("hyper accepts what the guard passes");
    assert_eq!((read.length, read.hosts), (bytes.len(), 1));
    assert_eq!(read.body, Body::Length(seen.length.unwrap_or(0)));
});
