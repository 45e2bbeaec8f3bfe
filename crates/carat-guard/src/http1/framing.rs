//! The body that follows the headers, from Content-Length and Transfer-Encoding, and the check for
//! exactly one Host.

use crate::authority;
use crate::byte_class::ByteClass;
use crate::error::GuardError;
use crate::http1::request_line::HttpVersion;

/// The longest body or chunk in bytes: a larger one would exceed a file offset, and sums of lengths
/// would overflow.
pub(crate) const LENGTH_LIMIT: u64 = i64::MAX as u64;

/// The body that follows the headers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyFraming {
    /// The body has this many bytes, possibly none.
    Length(u64),
    Chunked,
}

/// Collects the header fields that determine where a message ends (RFC 9112, section 6.3) and which
/// host it is for.
pub(crate) struct Framing {
    has_host: bool,
    body: Option<BodyFraming>,
}

impl Framing {
    pub(crate) fn new() -> Self {
        Self {
            has_host: false,
            body: None,
        }
    }

    /// Takes one field; most do not affect the framing.
    pub(crate) fn take(
        &mut self,
        name: &[u8],
        value: &[u8],
        version: HttpVersion,
    ) -> Result<(), GuardError> {
        match name.len() {
            4 if name.eq_ignore_ascii_case(b"host") => self.host(trim(value)),
            14 if name.eq_ignore_ascii_case(b"content-length") => self.length(trim(value)),
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                self.coding(trim(value), version)
            }
            _ => Ok(()),
        }
    }

    /// The body, once every field has been taken.
    pub(crate) fn body(&self, version: HttpVersion) -> Result<BodyFraming, GuardError> {
        if version == HttpVersion::Http11 && !self.has_host {
            return Err(GuardError::MissingHost);
        }
        Ok(self.body.unwrap_or(BodyFraming::Length(0)))
    }

    fn host(&mut self, value: &[u8]) -> Result<(), GuardError> {
        if self.has_host {
            return Err(GuardError::RepeatedHost);
        }
        if !authority::is_authority(value) {
            return Err(GuardError::InvalidHost);
        }
        self.has_host = true;
        Ok(())
    }

    fn length(&mut self, value: &[u8]) -> Result<(), GuardError> {
        match self.body {
            Some(BodyFraming::Length(_)) => return Err(GuardError::RepeatedLength),
            Some(BodyFraming::Chunked) => return Err(GuardError::LengthBesideCoding),
            None => {}
        }
        let length = parse_length(value).ok_or(GuardError::InvalidLength)?;
        self.body = Some(BodyFraming::Length(length));
        Ok(())
    }

    fn coding(&mut self, value: &[u8], version: HttpVersion) -> Result<(), GuardError> {
        match (version, self.body) {
            (HttpVersion::Http10, _) => return Err(GuardError::CodingInHttp10),
            (_, Some(BodyFraming::Chunked)) => return Err(GuardError::RepeatedCoding),
            (_, Some(BodyFraming::Length(_))) => return Err(GuardError::LengthBesideCoding),
            (_, None) => {}
        }
        if !is_chunked(value) {
            return Err(refuse_coding(value));
        }
        self.body = Some(BodyFraming::Chunked);
        Ok(())
    }
}

/// Parses one or more decimal digits and nothing else.
pub fn parse_length(value: &[u8]) -> Option<u64> {
    if value.is_empty() {
        return None;
    }
    let length = value.iter().try_fold(0_u64, |length, byte| {
        let digit = byte.is_ascii_digit().then(|| byte - b'0')?;
        length.checked_mul(10)?.checked_add(digit.into())
    });
    length.filter(|&length| length <= LENGTH_LIMIT)
}

/// The error for a Transfer-Encoding that is not just chunked. RFC 9112, section 6.3 requires 400
/// when chunked is not the last coding, because the end of the body is unknown then; section 6.1
/// requires 501 for other codings before it. Chunked must not be applied twice (section 7.1).
fn refuse_coding(value: &[u8]) -> GuardError {
    let mut codings = value.rsplit(|&byte| byte == b',').map(trim);
    let is_last_chunked = codings.next().is_some_and(is_chunked);
    if is_last_chunked && codings.all(|coding| is_token(coding) && !is_chunked(coding)) {
        GuardError::UnknownCoding
    } else {
        GuardError::InvalidCoding
    }
}

fn is_chunked(coding: &[u8]) -> bool {
    coding.eq_ignore_ascii_case(b"chunked")
}

fn is_token(coding: &[u8]) -> bool {
    !coding.is_empty() && ByteClass::TOKEN.run_end(coding, 0) == coding.len()
}

/// Strips spaces and tabs from both ends (RFC 9112, section 5.1).
fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}
