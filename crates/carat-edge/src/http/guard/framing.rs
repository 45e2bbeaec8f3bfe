//! Which body follows a head: what Content-Length and Transfer-Encoding say, and that there is one
//! Host.

use super::Refusal;
use super::authority;
use super::byte_class::ByteClass;
use super::request_line::Version;

/// Longest body or chunk in bytes: more does not fit a file's offset, and overflows whoever adds to
/// it.
pub(super) const LENGTH_LIMIT: u64 = i64::MAX as u64;

/// The body behind a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// This many bytes, none perhaps.
    Length(u64),
    Chunked,
}

/// Gathers the fields of one head that decide where the message ends (RFC 9112, section 6.3) and
/// for whom it is.
pub(super) struct Framing {
    has_host: bool,
    body: Option<Body>,
}

impl Framing {
    pub(super) fn new() -> Self {
        Self {
            has_host: false,
            body: None,
        }
    }

    /// Looks at one field; most are of no interest here.
    pub(super) fn take(
        &mut self,
        name: &[u8],
        value: &[u8],
        version: Version,
    ) -> Result<(), Refusal> {
        match name.len() {
            4 if name.eq_ignore_ascii_case(b"host") => self.host(trim(value)),
            14 if name.eq_ignore_ascii_case(b"content-length") => self.length(trim(value)),
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                self.coding(trim(value), version)
            }
            _ => Ok(()),
        }
    }

    /// The body, once all fields were taken.
    pub(super) fn body(&self, version: Version) -> Result<Body, Refusal> {
        if version == Version::Http11 && !self.has_host {
            return Err(Refusal::MissingHost);
        }
        Ok(self.body.unwrap_or(Body::Length(0)))
    }

    fn host(&mut self, value: &[u8]) -> Result<(), Refusal> {
        if self.has_host {
            return Err(Refusal::RepeatedHost);
        }
        if !authority::is_valid(value) {
            return Err(Refusal::InvalidHost);
        }
        self.has_host = true;
        Ok(())
    }

    fn length(&mut self, value: &[u8]) -> Result<(), Refusal> {
        match self.body {
            Some(Body::Length(_)) => return Err(Refusal::RepeatedLength),
            Some(Body::Chunked) => return Err(Refusal::LengthBesideCoding),
            None => {}
        }
        let length = parse_length(value).ok_or(Refusal::InvalidLength)?;
        self.body = Some(Body::Length(length));
        Ok(())
    }

    fn coding(&mut self, value: &[u8], version: Version) -> Result<(), Refusal> {
        match (version, self.body) {
            (Version::Http10, _) => return Err(Refusal::CodingInHttp10),
            (_, Some(Body::Chunked)) => return Err(Refusal::RepeatedCoding),
            (_, Some(Body::Length(_))) => return Err(Refusal::LengthBesideCoding),
            (_, None) => {}
        }
        if !is_chunked(value) {
            return Err(refuse_coding(value));
        }
        self.body = Some(Body::Chunked);
        Ok(())
    }
}

/// A decimal number of at least one digit and nothing else.
fn parse_length(value: &[u8]) -> Option<u64> {
    if value.is_empty() {
        return None;
    }
    let length = value.iter().try_fold(0_u64, |length, byte| {
        let digit = byte.is_ascii_digit().then(|| byte - b'0')?;
        length.checked_mul(10)?.checked_add(digit.into())
    });
    length.filter(|&length| length <= LENGTH_LIMIT)
}

/// RFC 9112, section 6.3 wants 400 when chunked is not the last coding, as the body's end is
/// unknown then, and section 6.1 wants 501 for other codings before it. Chunked twice is wrong too
/// (section 7.1).
fn refuse_coding(value: &[u8]) -> Refusal {
    let mut codings = value.rsplit(|&byte| byte == b',').map(trim);
    let is_last_chunked = codings.next().is_some_and(is_chunked);
    if is_last_chunked && codings.all(|coding| is_token(coding) && !is_chunked(coding)) {
        Refusal::UnknownCoding
    } else {
        Refusal::InvalidCoding
    }
}

fn is_chunked(coding: &[u8]) -> bool {
    coding.eq_ignore_ascii_case(b"chunked")
}

fn is_token(coding: &[u8]) -> bool {
    !coding.is_empty() && ByteClass::TOKEN.run_end(coding, 0) == coding.len()
}

/// Without the spaces and tabs around it (RFC 9112, section 5.1).
fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}
