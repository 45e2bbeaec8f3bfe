//! The status and the headers of a response, checked and encoded.

use std::fmt;
use std::ops::RangeInclusive;

use carat_wire::response::FAILED;
use carat_wire::{EncodedHeaders, push_header};

/// Maximum total size of a response's header fields, in bytes.
const HEADERS_LIMIT: usize = 256 * 1024;

/// Maximum number of header fields per response. The edge's header map takes at most 24 575.
const HEADER_COUNT_LIMIT: u16 = 1024;

/// The longest name of a header, in bytes.
const NAME_LIMIT: usize = 1024;

/// The final statuses, which the application may send. Only the edge sends 1xx.
const STATUSES: RangeInclusive<u16> = 200..=599;

/// The status before a change of protocol (RFC 9110, section 15.2.2). A tunnel follows it, and no body.
pub const SWITCHING_PROTOCOLS: u16 = 101;

/// The prefix of the names of headers that are meant for the server, not for the client.
const PRIVATE_PREFIX: &[u8] = b"rack.";

/// The header whose value is a callable that the server calls with a socket, in Rack 2 and 3.
const HIJACK: &[u8] = b"rack.hijack";

const CONTENT_LENGTH: &[u8] = b"content-length";

/// Why a status or a header cannot be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidHead(&'static str);

impl fmt::Display for InvalidHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for InvalidHead {}

/// The encoded status and headers of one response. Its memory is reused for the next.
#[derive(Debug, Default)]
pub struct HeadEncoder {
    status: u16,
    headers: Vec<u8>,
    count: u16,
    name: String,
    has_length: bool,
    splits_lines: bool,
    is_hint: bool,
}

impl HeadEncoder {
    /// An encoder. `splits_lines` says whether a line break in a value separates two headers, as in Rack 2.
    pub fn new(splits_lines: bool) -> HeadEncoder {
        HeadEncoder {
            splits_lines,
            ..HeadEncoder::default()
        }
    }

    /// Begins a response.
    pub fn start(&mut self, status: u16) -> Result<(), InvalidHead> {
        self.clear();
        self.is_hint = false;
        self.status = status;
        if STATUSES.contains(&status) {
            return Ok(());
        }
        Err(InvalidHead("the status is not from 200 to 599"))
    }

    /// Begins a response after which the application takes over the connection.
    pub fn start_tunnel(&mut self, status: u16) -> Result<(), InvalidHead> {
        if status != SWITCHING_PROTOCOLS {
            return self.start(status);
        }
        self.start(*STATUSES.start())?;
        self.status = status;
        Ok(())
    }

    /// Whether the header of this name has the callable that takes over the connection. It is meant for the server, not
    /// for the client.
    pub fn is_hijack(name: &[u8]) -> bool {
        name == HIJACK
    }

    /// Begins the response to a request in which the application failed.
    pub fn start_failure(&mut self) {
        self.clear();
        self.is_hint = false;
        self.status = FAILED;
    }

    /// Begins early hints. Rails separates their links by line breaks, with every release of Rack.
    pub fn start_hints(&mut self) {
        self.clear();
        self.is_hint = true;
    }

    fn clear(&mut self) {
        self.headers.clear();
        self.count = 0;
        self.has_length = false;
    }

    /// Whether a header of this name is meant for the server alone.
    pub fn is_private(name: &[u8]) -> bool {
        name.starts_with(PRIVATE_PREFIX)
    }

    /// Adds a header; its name is made lower-case.
    pub fn add(&mut self, name: &[u8], value: &[u8]) -> Result<(), InvalidHead> {
        if (self.splits_lines || self.is_hint) && value.contains(&b'\n') {
            return value
                .split(|byte| *byte == b'\n')
                .try_for_each(|line| self.push(name, line));
        }
        self.push(name, value)
    }

    /// Adds the length of the content that a GET would have, unless the application has declared it
    /// (RFC 9110, section 9.3.2).
    pub(crate) fn add_length(&mut self, bytes: u32) {
        if !self.has_length && !self.is_bodiless() {
            // If the headers are at their limit, the length is left out.
            let _ = self.push(CONTENT_LENGTH, bytes.to_string().as_bytes());
        }
    }

    /// The status.
    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    /// The headers so far, as a frame carries them.
    pub(crate) fn headers(&self) -> EncodedHeaders<'_> {
        EncodedHeaders {
            count: self.count,
            fields: &self.headers,
        }
    }

    /// Whether the status allows no body (RFC 9110, sections 6.4.1 and 15.3.6).
    pub(crate) fn is_bodiless(&self) -> bool {
        matches!(self.status, 204 | 205 | 304)
    }

    fn push(&mut self, name: &[u8], value: &[u8]) -> Result<(), InvalidHead> {
        let ascii = std::str::from_utf8(name)
            .ok()
            .filter(|name| name.is_ascii());
        let Some(name) = ascii.filter(|name| !name.is_empty() && name.len() <= NAME_LIMIT) else {
            return Err(InvalidHead(
                "a header's name is empty, too long or not ASCII",
            ));
        };
        if self.count == HEADER_COUNT_LIMIT {
            return Err(InvalidHead("there are more than 1024 headers"));
        }
        if self.headers.len() + name.len() + value.len() > HEADERS_LIMIT {
            return Err(InvalidHead("the headers are larger than 256 KiB"));
        }
        self.name.clear();
        self.name.push_str(name);
        self.name.make_ascii_lowercase();
        push_header(&mut self.headers, &self.name, value);
        self.has_length |= self.name.as_bytes() == CONTENT_LENGTH;
        self.count += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoder(splits_lines: bool) -> HeadEncoder {
        let mut encoder = HeadEncoder::new(splits_lines);
        encoder.start(200).expect("a final status");
        encoder
    }

    #[test]
    fn only_a_final_status_is_sent() {
        for (status, is_valid) in [
            (0, false),
            (199, false),
            (200, true),
            (599, true),
            (600, false),
        ] {
            assert_eq!(HeadEncoder::default().start(status).is_ok(), is_valid);
        }
    }

    #[test]
    fn a_tunnel_may_begin_with_another_protocol() {
        let mut encoder = HeadEncoder::default();
        for (status, is_valid) in [(101, true), (200, true), (100, false), (102, false)] {
            assert_eq!(encoder.start_tunnel(status).is_ok(), is_valid);
        }
        encoder.start_tunnel(101).expect("a tunnel");
        assert_eq!(encoder.status(), 101);
    }

    #[test]
    fn names_are_made_lower_case() {
        let mut encoder = encoder(false);
        encoder.add(b"X-Odd", b"1").expect("valid");
        let mut expected = Vec::new();
        push_header(&mut expected, "x-odd", b"1");
        assert_eq!(encoder.headers().count, 1);
        assert_eq!(encoder.headers().fields, expected);
    }

    #[test]
    fn a_line_break_separates_two_headers_for_rack_2_alone() {
        for (splits_lines, count) in [(true, 2), (false, 1)] {
            let mut encoder = encoder(splits_lines);
            encoder.add(b"set-cookie", b"a=1\nb=2").expect("valid");
            assert_eq!(encoder.headers().count, count);
        }
    }

    #[test]
    fn a_line_break_separates_two_hints_for_any_rack() {
        let mut encoder = encoder(false);
        encoder.start_hints();
        encoder.add(b"Link", b"</a>\n</b>").expect("valid");
        assert_eq!(encoder.headers().count, 2);
        encoder.start(200).expect("a final status");
        encoder.add(b"Link", b"</a>\n</b>").expect("valid");
        assert_eq!(encoder.headers().count, 1);
    }

    #[test]
    fn a_name_that_no_header_can_have_is_refused() {
        let mut encoder = encoder(false);
        for name in ["", "größe", &"x".repeat(NAME_LIMIT + 1)] {
            assert!(encoder.add(name.as_bytes(), b"").is_err(), "{name}");
        }
    }

    #[test]
    fn headers_have_a_limit_in_bytes_and_in_number() {
        let mut large = encoder(false);
        assert!(large.add(b"x", &vec![b'x'; HEADERS_LIMIT]).is_err());
        let mut many = encoder(false);
        for _ in 0..HEADER_COUNT_LIMIT {
            many.add(b"a", b"").expect("room");
        }
        assert!(many.add(b"a", b"").is_err());
        let lines = [b'\n'; HEADER_COUNT_LIMIT as usize];
        assert!(encoder(true).add(b"a", &lines).is_err());
    }

    #[test]
    fn the_length_of_a_body_that_is_not_sent_is_added_once() {
        for (status, declared, count) in [(200, false, 1), (200, true, 1), (204, false, 0)] {
            let mut encoder = HeadEncoder::default();
            encoder.start(status).expect("a final status");
            if declared {
                encoder.add(b"Content-Length", b"7").expect("valid");
            }
            encoder.add_length(7);
            assert_eq!(encoder.headers().count, count);
        }
    }

    #[test]
    fn a_new_response_has_no_headers_of_the_last() {
        let mut encoder = encoder(false);
        encoder.add(b"etag", b"1").expect("valid");
        encoder.start(304).expect("a final status");
        assert_eq!(encoder.headers(), EncodedHeaders::default());
        assert!(encoder.is_bodiless());
    }
}
