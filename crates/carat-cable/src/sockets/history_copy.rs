use std::ops::Range;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

/// A message that was broadcast and is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptBroadcast<'a> {
    /// Its number.
    pub offset: u64,
    /// When it was sent, in Unix time.
    pub at: u64,
    /// The last message of its stream that is not kept, and when that was sent.
    pub forgotten: (u64, u64),
    /// The name of the stream.
    pub stream: &'a str,
    /// A JSON value.
    pub message: &'a [u8],
}

/// Where a history stands.
#[derive(Debug, Serialize, Deserialize)]
pub struct HistoryRecord {
    pub(super) epoch: Box<str>,
    pub(super) began: u64,
    pub(super) last: u64,
    pub(super) forgotten: u64,
    pub(super) evicted_at: u64,
}

/// A message of a history that is copied. It shares the bytes with the history.
#[derive(Debug)]
pub struct HistoryItem {
    pub(super) offset: u64,
    pub(super) at: u64,
    pub(super) forgotten: (u64, u64),
    pub(super) stream: Rc<str>,
    pub(super) frame: Rc<[u8]>,
    pub(super) payload: Range<usize>,
}

impl HistoryItem {
    /// For another edge.
    pub fn broadcast(&self) -> KeptBroadcast<'_> {
        KeptBroadcast {
            offset: self.offset,
            at: self.at,
            forgotten: self.forgotten,
            stream: &self.stream,
            message: &self.frame[self.payload.clone()],
        }
    }
}
