use std::ops::Range;

use super::stage::Stage;
use super::{DecodeError, Step};
use crate::Coding;

/// What a coding on top of another decodes at once, for the other to read.
const BETWEEN_LIMIT: usize = 64 * 1024;

/// The coding that was applied last of two, and what has come out of it.
#[derive(Debug)]
pub(super) struct Outer {
    stage: Stage,
    between: Box<[u8]>,
    /// The part of `between` that the other coding has not read.
    unread: Range<usize>,
    /// Whether the stage may have more without further input.
    more: bool,
    written: u64,
}

impl Outer {
    pub(super) fn new(coding: Coding) -> Outer {
        Outer {
            stage: Stage::new(coding),
            between: vec![0; BETWEEN_LIMIT].into(),
            unread: 0..0,
            more: false,
            written: 0,
        }
    }

    /// Decodes from `input` if nothing is left to read; returns how much of it has been taken.
    pub(super) fn fill(&mut self, input: &[u8]) -> Result<usize, DecodeError> {
        if !self.unread.is_empty() {
            return Ok(0);
        }
        let Step {
            read,
            written,
            more,
        } = self.stage.step(input, &mut self.between)?;
        self.unread = 0..written;
        self.more = more;
        self.written += written as u64;
        Ok(read)
    }

    /// What the other coding is to read next.
    pub(super) fn unread(&self) -> &[u8] {
        &self.between[self.unread.clone()]
    }

    /// The other coding has read so much.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.unread.start += bytes;
    }

    /// Whether there is more to read without further input.
    pub(super) fn more(&self) -> bool {
        self.more || !self.unread.is_empty()
    }

    /// Bytes that have come out so far.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Whether the input may end here.
    pub(super) fn is_complete(&self) -> bool {
        self.stage.is_complete() && self.unread.is_empty()
    }
}
