//! The first line of a head: `method SP target SP HTTP/1.x CRLF`.

use super::byte_class::ByteClass;
use super::{HeadLimits, Refusal, authority};

/// How many blank lines may stand before a request line; RFC 9112, section 2.2 asks for at least
/// one.
pub(super) const BLANK_LINES_LIMIT: usize = 2;

/// Longest method in bytes; a longer one cannot be one that is known, so the answer is 501 (RFC
/// 9112, section 3).
pub(super) const METHOD_LIMIT: usize = 32;

/// The versions that are spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Http10,
    Http11,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    BlankLines,
    Method,
    Target,
    Version,
}

/// Reads the request line; its indices count from the first byte of the head.
pub(super) struct RequestLine {
    place: Place,
    blank_lines: usize,
    method: usize,
    target: usize,
    version: usize,
}

impl RequestLine {
    pub(super) fn new() -> Self {
        Self {
            place: Place::BlankLines,
            blank_lines: 0,
            method: 0,
            target: 0,
            version: 0,
        }
    }

    /// Whether there was nothing yet, or nothing but blank lines.
    pub(super) fn is_blank(&self) -> bool {
        self.place == Place::BlankLines
    }

    /// Goes on at `at` and moves it on; the version when the line is complete, nothing when more
    /// bytes are needed.
    pub(super) fn scan(
        &mut self,
        bytes: &[u8],
        at: &mut usize,
        limits: &HeadLimits,
    ) -> Result<Option<Version>, Refusal> {
        loop {
            let part_is_complete = match self.place {
                Place::BlankLines => self.blank_lines(bytes, at)?,
                Place::Method => self.method(bytes, at)?,
                Place::Target => self.target(bytes, at, limits.max_uri)?,
                Place::Version => return self.version(bytes, at),
            };
            if !part_is_complete {
                return Ok(None);
            }
        }
    }

    fn blank_lines(&mut self, bytes: &[u8], at: &mut usize) -> Result<bool, Refusal> {
        match bytes.get(*at..).unwrap_or_default() {
            [b'\r', ..] if self.blank_lines == BLANK_LINES_LIMIT => Err(Refusal::BlankLines),
            [] | [b'\r'] => Ok(false),
            [b'\r', b'\n', ..] => {
                self.blank_lines += 1;
                *at += 2;
                Ok(true)
            }
            [b'\r' | b'\n', ..] => Err(Refusal::BareLineEnd),
            _ => {
                self.method = *at;
                self.place = Place::Method;
                Ok(true)
            }
        }
    }

    fn method(&mut self, bytes: &[u8], at: &mut usize) -> Result<bool, Refusal> {
        *at = ByteClass::TOKEN.run_end(bytes, *at);
        let method = &bytes[self.method..*at];
        if method.len() > METHOD_LIMIT {
            return Err(Refusal::MethodTooLong);
        }
        match bytes.get(*at) {
            None => Ok(false),
            Some(b' ') if method == b"CONNECT" => Err(Refusal::Connect),
            Some(b' ') if !method.is_empty() => {
                *at += 1;
                self.target = *at;
                self.place = Place::Target;
                Ok(true)
            }
            Some(&byte) => Err(unexpected(byte)),
        }
    }

    fn target(&mut self, bytes: &[u8], at: &mut usize, max_uri: usize) -> Result<bool, Refusal> {
        *at = ByteClass::TARGET.run_end(bytes, *at);
        let length = *at - self.target;
        if length > max_uri {
            return Err(Refusal::UriTooLong);
        }
        match bytes.get(*at) {
            None => Ok(false),
            Some(b' ') if length > 0 => {
                *at += 1;
                self.version = *at;
                self.place = Place::Version;
                Ok(true)
            }
            Some(b'#') => Err(Refusal::Target),
            Some(&byte) => Err(unexpected(byte)),
        }
    }

    /// At most ten bytes, so they are looked at again from the first one when more come.
    fn version(&self, bytes: &[u8], at: &mut usize) -> Result<Option<Version>, Refusal> {
        let seen = bytes.get(self.version..).unwrap_or_default();
        let version = match seen.first_chunk() {
            Some(b"HTTP/1.1\r\n") => Version::Http11,
            Some(b"HTTP/1.0\r\n") => Version::Http10,
            _ => return refuse_version(seen).map_or(Ok(None), Err),
        };
        if !self.has_target_form(bytes) {
            return Err(Refusal::Target);
        }
        *at = self.version + 10;
        Ok(Some(version))
    }

    /// origin-form, absolute-form of this server's schemes, or `*` for OPTIONS (RFC 9112, section
    /// 3.2). hyper would take a bare word for an authority.
    fn has_target_form(&self, bytes: &[u8]) -> bool {
        let target = &bytes[self.target..self.version - 1];
        match target {
            [b'/', ..] => true,
            b"*" => &bytes[self.method..self.target - 1] == b"OPTIONS",
            _ => authority::of_absolute_form(target).is_some_and(authority::is_valid),
        }
    }
}

/// The first fault of an incomplete or wrong `HTTP/1.x CRLF`, if it has one already.
fn refuse_version(seen: &[u8]) -> Option<Refusal> {
    for (index, &byte) in seen.iter().enumerate() {
        let refusal = match (index, byte) {
            (0..=4, _) if byte == b"HTTP/"[index] => continue,
            (5 | 7, b'0'..=b'9') | (6, b'.') | (8, b'\r') | (9, b'\n') => {
                let is_spoken = index != 7 || matches!(seen[5..8], [b'1', _, b'0' | b'1']);
                if is_spoken {
                    continue;
                }
                Refusal::Version
            }
            (9, _) => Refusal::BareLineEnd,
            _ => unexpected(byte),
        };
        return Some(refusal);
    }
    None
}

fn unexpected(byte: u8) -> Refusal {
    match byte {
        b'\n' => Refusal::BareLineEnd,
        _ => Refusal::RequestLine,
    }
}
