use std::ops::Range;

use super::coding_decoder::CodingDecoder;
use super::{DecodeError, DecodeStep};
use crate::Coding;

/// The most bytes that the outer coding decodes ahead of the inner one.
const BETWEEN_LIMIT: usize = 64 * 1024;

/// The second of two codings, and the bytes that it decoded for the first.
pub(super) struct OuterCoding {
    stage: CodingDecoder,
    between: Box<[u8]>,
    /// The part of `between` that the inner coding has not read.
    unread: Range<usize>,
    /// Whether there may be more output without further input.
    more: bool,
    written: u64,
}

impl OuterCoding {
    pub(super) fn new(coding: Coding) -> OuterCoding {
        OuterCoding {
            stage: CodingDecoder::new(coding),
            between: vec![0; BETWEEN_LIMIT].into(),
            unread: 0..0,
            more: false,
            written: 0,
        }
    }

    /// Decodes from `input` if the inner coding has read all that was decoded before. Returns how
    /// many bytes of `input` were read.
    pub(super) fn fill(&mut self, input: &[u8]) -> Result<usize, DecodeError> {
        if !self.unread.is_empty() {
            return Ok(0);
        }
        let DecodeStep {
            read,
            written,
            more,
        } = self.stage.step(input, &mut self.between)?;
        self.unread = 0..written;
        self.more = more;
        self.written += written as u64;
        Ok(read)
    }

    /// The bytes that the inner coding reads next.
    pub(super) fn unread(&self) -> &[u8] {
        &self.between[self.unread.clone()]
    }

    /// Notes that the inner coding has read this many bytes.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.unread.start += bytes;
    }

    /// Whether there may be more for the inner coding to read without further input.
    pub(super) fn more(&self) -> bool {
        self.more || !self.unread.is_empty()
    }

    /// Bytes of memory that the decoder has allocated, and those between the codings.
    pub(super) fn memory(&self) -> usize {
        self.stage.memory() + BETWEEN_LIMIT
    }

    /// Bytes decoded so far.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Whether the input may end here.
    pub(super) fn is_complete(&self) -> bool {
        self.stage.is_complete() && self.unread.is_empty()
    }
}
