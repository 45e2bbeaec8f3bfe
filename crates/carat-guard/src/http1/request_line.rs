//! The first line of a message: `method SP target SP HTTP/1.x CRLF`.

use crate::authority;
use crate::byte_class::ByteClass;
use crate::error::GuardError;
use crate::header_limits::HeaderLimits;

/// The most blank lines before a request line; RFC 9112, section 2.2 asks a server to accept one.
pub(crate) const BLANK_LINES_LIMIT: usize = 2;

/// The longest method in bytes. A longer one is unknown, so the response is 501 (RFC 9112, section 3).
pub const METHOD_LIMIT: usize = 32;

/// The version that decides how a message is framed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HttpVersion {
    Http10,
    /// HTTP/1.1, or a higher minor version (RFC 9110, section 2.5).
    Http11,
}

/// The part of the request line to which the next byte belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestLineState {
    BlankLines,
    Method,
    Path,
    Query,
    Version,
}

/// Reads the request line. Its indices count from the first byte of the message.
pub(crate) struct RequestLine {
    state: RequestLineState,
    blank_lines: usize,
    method: usize,
    target: usize,
    version: usize,
}

impl RequestLine {
    pub(crate) fn new() -> Self {
        Self {
            state: RequestLineState::BlankLines,
            blank_lines: 0,
            method: 0,
            target: 0,
            version: 0,
        }
    }

    /// Whether nothing but blank lines has arrived.
    pub(crate) fn is_blank(&self) -> bool {
        self.state == RequestLineState::BlankLines
    }

    /// The index of the minor version, when it is higher than 1 and the line is complete.
    pub(crate) fn higher_minor(&self, bytes: &[u8]) -> Option<usize> {
        let index = self.version + 7;
        matches!(bytes.get(index), Some(b'2'..=b'9')).then_some(index)
    }

    /// Continues at `at` and advances it. Returns the version once the line is complete, `None` when
    /// more bytes are needed.
    pub(crate) fn scan(
        &mut self,
        bytes: &[u8],
        at: &mut usize,
        limits: &HeaderLimits,
    ) -> Result<Option<HttpVersion>, GuardError> {
        loop {
            let part_is_complete = match self.state {
                RequestLineState::BlankLines => self.blank_lines(bytes, at)?,
                RequestLineState::Method => self.method(bytes, at)?,
                RequestLineState::Path => {
                    self.target(bytes, at, ByteClass::PATH, limits.max_uri)?
                }
                RequestLineState::Query => {
                    self.target(bytes, at, ByteClass::QUERY, limits.max_uri)?
                }
                RequestLineState::Version => return self.version(bytes, at),
            };
            if !part_is_complete {
                return Ok(None);
            }
        }
    }

    fn blank_lines(&mut self, bytes: &[u8], at: &mut usize) -> Result<bool, GuardError> {
        match bytes.get(*at..).unwrap_or_default() {
            [b'\r', ..] if self.blank_lines == BLANK_LINES_LIMIT => Err(GuardError::BlankLines),
            [] | [b'\r'] => Ok(false),
            [b'\r', b'\n', ..] => {
                self.blank_lines += 1;
                *at += 2;
                Ok(true)
            }
            [b'\r' | b'\n', ..] => Err(GuardError::BareLineEnd),
            _ => {
                self.method = *at;
                self.state = RequestLineState::Method;
                Ok(true)
            }
        }
    }

    fn method(&mut self, bytes: &[u8], at: &mut usize) -> Result<bool, GuardError> {
        *at = ByteClass::TOKEN.run_end(bytes, *at);
        let method = &bytes[self.method..*at];
        if method.len() > METHOD_LIMIT {
            return Err(GuardError::MethodTooLong);
        }
        match bytes.get(*at) {
            None => Ok(false),
            Some(b' ') if method == b"CONNECT" => Err(GuardError::Connect),
            Some(b' ') if !method.is_empty() => {
                *at += 1;
                self.target = *at;
                self.state = RequestLineState::Path;
                Ok(true)
            }
            Some(&byte) => Err(unexpected(byte)),
        }
    }

    fn target(
        &mut self,
        bytes: &[u8],
        at: &mut usize,
        allowed: ByteClass,
        max_uri: usize,
    ) -> Result<bool, GuardError> {
        *at = allowed.run_end(bytes, *at);
        let length = *at - self.target;
        if length > max_uri {
            return Err(GuardError::UriTooLong);
        }
        match bytes.get(*at) {
            None => Ok(false),
            Some(b' ') if length > 0 => {
                *at += 1;
                self.version = *at;
                self.state = RequestLineState::Version;
                Ok(true)
            }
            Some(b'?') => {
                self.state = RequestLineState::Query;
                Ok(true)
            }
            Some(0x21..=0x7e) => Err(GuardError::Target),
            Some(&byte) => Err(unexpected(byte)),
        }
    }

    /// Reads the version and the line end. They have ten bytes, so they are examined again from the
    /// first one when more bytes arrive.
    fn version(&self, bytes: &[u8], at: &mut usize) -> Result<Option<HttpVersion>, GuardError> {
        let seen = bytes.get(self.version..).unwrap_or_default();
        let version = match seen.first_chunk() {
            Some(b"HTTP/1.0\r\n") => HttpVersion::Http10,
            Some(
                [
                    b'H',
                    b'T',
                    b'T',
                    b'P',
                    b'/',
                    b'1',
                    b'.',
                    b'1'..=b'9',
                    b'\r',
                    b'\n',
                ],
            ) => HttpVersion::Http11,
            _ => return refuse_version(seen).map_or(Ok(None), Err),
        };
        if !self.has_target_form(bytes) {
            return Err(GuardError::Target);
        }
        *at = self.version + 10;
        Ok(Some(version))
    }

    /// Whether the target is in origin-form, in absolute-form with a scheme of this server, or `*`
    /// for OPTIONS (RFC 9112, section 3.2). hyper would accept a bare word as an authority. It
    /// accepts bytes beyond ASCII only as UTF-8.
    fn has_target_form(&self, bytes: &[u8]) -> bool {
        let target = &bytes[self.target..self.version - 1];
        match target {
            _ if std::str::from_utf8(target).is_err() => false,
            [b'/', ..] => true,
            b"*" => &bytes[self.method..self.target - 1] == b"OPTIONS",
            // hyper accepts no percent sign in an authority.
            _ => authority::of_absolute_form(target)
                .is_some_and(|it| authority::is_authority(it) && !it.contains(&b'%')),
        }
    }
}

/// The first error in an incomplete or wrong `HTTP/1.x CRLF`, if there is one yet.
fn refuse_version(seen: &[u8]) -> Option<GuardError> {
    for (index, &byte) in seen.iter().enumerate() {
        let refusal = match (index, byte) {
            (0..=4, _) if byte == b"HTTP/"[index] => continue,
            (5 | 7, b'0'..=b'9') | (6, b'.') | (8, b'\r') | (9, b'\n') => {
                if index != 7 || seen[5] == b'1' {
                    continue;
                }
                GuardError::Version
            }
            (9, _) => GuardError::BareLineEnd,
            _ => unexpected(byte),
        };
        return Some(refusal);
    }
    None
}

fn unexpected(byte: u8) -> GuardError {
    match byte {
        b'\n' => GuardError::BareLineEnd,
        _ => GuardError::RequestLine,
    }
}
