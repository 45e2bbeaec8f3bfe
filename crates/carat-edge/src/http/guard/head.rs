//! The head of one message: its request line and its headers, read as they arrive.

use super::fields::{Fields, Step};
use super::framing::{Body, Framing};
use super::request_line::{RequestLine, Version};
use super::{HeadLimits, Refusal};

/// Reads a head that is offered from its first byte each time; each byte is looked at once, however
/// small the pieces are.
pub(super) struct Head {
    scanned: usize,
    request_line: RequestLine,
    version: Option<Version>,
    fields: Fields,
    line: usize,
    colon: usize,
    framing: Framing,
}

impl Head {
    pub(super) fn new() -> Self {
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

    /// Whether no byte of a message was seen yet; blank lines before it are none.
    pub(super) fn is_blank(&self) -> bool {
        self.request_line.is_blank()
    }

    /// Forgets the blank lines seen so far, if there is nothing else, and says how many bytes they
    /// are.
    pub(super) fn take_blank_lines(&mut self) -> usize {
        if self.is_blank() {
            std::mem::take(&mut self.scanned)
        } else {
            0
        }
    }

    /// The head's length and its body once it is complete, nothing when more bytes are needed.
    pub(super) fn scan(
        &mut self,
        bytes: &[u8],
        limits: &HeadLimits,
    ) -> Result<Option<(usize, Body)>, Refusal> {
        let window = &bytes[..bytes.len().min(limits.max_header_bytes)];
        let body = match self.scan_request_line(window, limits)? {
            Some(version) => self.scan_fields(window, version, limits)?,
            None => None,
        };
        match body {
            Some(body) => Ok(Some((self.scanned, body))),
            None if window.len() == limits.max_header_bytes => Err(Refusal::HeaderTooLarge),
            None => Ok(None),
        }
    }

    fn scan_request_line(
        &mut self,
        window: &[u8],
        limits: &HeadLimits,
    ) -> Result<Option<Version>, Refusal> {
        if self.version.is_none() {
            self.version = self.request_line.scan(window, &mut self.scanned, limits)?;
            self.line = self.scanned;
        }
        Ok(self.version)
    }

    fn scan_fields(
        &mut self,
        window: &[u8],
        version: Version,
        limits: &HeadLimits,
    ) -> Result<Option<Body>, Refusal> {
        loop {
            match self
                .fields
                .step(window, &mut self.scanned, limits.max_headers)?
            {
                Step::More => return Ok(None),
                Step::Colon => self.colon = self.scanned - 1,
                Step::Line => {
                    let name = &window[self.line..self.colon];
                    let value = &window[self.colon + 1..self.scanned - 2];
                    self.framing.take(name, value, version)?;
                    self.line = self.scanned;
                }
                Step::End => return self.framing.body(version).map(Some),
            }
        }
    }
}
