//! The request line and the headers of one message, parsed as they arrive.

use crate::error::GuardError;
use crate::header_limits::HeaderLimits;
use crate::http1::fields::{Fields, FieldsStep};
use crate::http1::framing::{BodyFraming, Framing};
use crate::http1::request_line::{HttpVersion, RequestLine};

/// Reads the request line and the headers. They are offered from their first byte each time, and
/// each byte is examined once, however small the pieces are.
pub(crate) struct MessageHead {
    scanned: usize,
    request_line: RequestLine,
    version: Option<HttpVersion>,
    fields: Fields,
    line: usize,
    colon: usize,
    framing: Framing,
}

impl MessageHead {
    pub(crate) fn new() -> Self {
        Self {
            scanned: 0,
            request_line: RequestLine::new(),
            version: None,
            fields: Fields::new(),
            line: 0,
            colon: 0,
            framing: Framing::new(),
        }
    }

    /// Whether no byte of the message has arrived, blank lines aside.
    pub(crate) fn is_blank(&self) -> bool {
        self.request_line.is_blank()
    }

    /// The index of the minor version in a complete head, when it is higher than 1.
    pub(crate) fn higher_minor(&self, bytes: &[u8]) -> Option<usize> {
        self.request_line.higher_minor(bytes)
    }

    /// Forgets the blank lines, if nothing else has arrived, and returns their length in bytes.
    pub(crate) fn take_blank_lines(&mut self) -> usize {
        if self.is_blank() {
            std::mem::take(&mut self.scanned)
        } else {
            0
        }
    }

    /// The length in bytes and the body that follows; `None` when more bytes are needed.
    pub(crate) fn scan(
        &mut self,
        bytes: &[u8],
        limits: &HeaderLimits,
    ) -> Result<Option<(usize, BodyFraming)>, GuardError> {
        let window = &bytes[..bytes.len().min(limits.max_header_bytes)];
        let body = match self.scan_request_line(window, limits)? {
            Some(version) => self.scan_fields(window, version, limits)?,
            None => None,
        };
        match body {
            Some(body) => Ok(Some((self.scanned, body))),
            None if window.len() == limits.max_header_bytes => Err(GuardError::HeaderTooLarge),
            None => Ok(None),
        }
    }

    fn scan_request_line(
        &mut self,
        window: &[u8],
        limits: &HeaderLimits,
    ) -> Result<Option<HttpVersion>, GuardError> {
        if self.version.is_none() {
            self.version = self.request_line.scan(window, &mut self.scanned, limits)?;
            self.line = self.scanned;
        }
        Ok(self.version)
    }

    fn scan_fields(
        &mut self,
        window: &[u8],
        version: HttpVersion,
        limits: &HeaderLimits,
    ) -> Result<Option<BodyFraming>, GuardError> {
        loop {
            match self
                .fields
                .step(window, &mut self.scanned, limits.max_headers)?
            {
                FieldsStep::More => return Ok(None),
                FieldsStep::Colon => self.colon = self.scanned - 1,
                FieldsStep::Line => {
                    let name = &window[self.line..self.colon];
                    let value = &window[self.colon + 1..self.scanned - 2];
                    self.framing.take(name, value, version)?;
                    self.line = self.scanned;
                }
                FieldsStep::End => return self.framing.body(version).map(Some),
            }
        }
    }
}
