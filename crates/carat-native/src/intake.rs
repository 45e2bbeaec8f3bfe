//! A request body that a lane receives while the application reads it.

use std::collections::VecDeque;

use carat_wire::stream::STREAM_WINDOW;

use crate::failure::Failure;

/// What has arrived of a body and has not been read: at most `STREAM_WINDOW` bytes, as the edge sends no
/// more than it has been granted.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    bytes: VecDeque<u8>,
    /// Bytes that the edge has been granted and that have not been read.
    granted: u32,
    end: Option<End>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Complete,
    Broken,
}

/// What there is to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrived {
    /// Nothing yet.
    Nothing,
    /// At least a byte.
    Bytes,
    /// Nothing more: the body is complete.
    End,
    /// Nothing more, although the body is not complete.
    Broken,
}

impl Intake {
    /// How many bytes the edge is to be granted, now that the application reads; none while half of what it
    /// was granted is still to be read.
    pub(crate) fn grant(&mut self) -> Option<u32> {
        let due = STREAM_WINDOW - self.granted;
        if self.end.is_some() || due < STREAM_WINDOW / 2 {
            return None;
        }
        self.granted = STREAM_WINDOW;
        Some(due)
    }

    /// A piece has arrived.
    pub(crate) fn push(&mut self, data: &[u8]) -> Result<(), Failure> {
        if self.bytes.len() + data.len() > self.granted as usize {
            return Err(Failure::TooFarAhead);
        }
        self.bytes.extend(data);
        Ok(())
    }

    /// The body is complete.
    pub(crate) fn end(&mut self) {
        self.end.get_or_insert(End::Complete);
    }

    /// The rest of the body will not come.
    pub(crate) fn abort(&mut self) {
        self.end.get_or_insert(End::Broken);
    }

    /// What there is to read.
    pub(crate) fn arrived(&self) -> Arrived {
        match self.end {
            _ if !self.bytes.is_empty() => Arrived::Bytes,
            None => Arrived::Nothing,
            Some(End::Complete) => Arrived::End,
            Some(End::Broken) => Arrived::Broken,
        }
    }

    /// Some of what has arrived, which stays there.
    pub(crate) fn peek(&self) -> &[u8] {
        self.bytes.as_slices().0
    }

    /// The first `count` bytes have been read.
    pub(crate) fn consume(&mut self, count: usize) {
        self.bytes.drain(..count);
        self.granted -= u32::try_from(count).expect("no more has arrived than was granted");
    }
}
