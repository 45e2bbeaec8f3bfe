use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::reply_stream::ReplyStream;
use super::tunnel::Tunnel;
use crate::slow_file::SlowFile;

/// The body of a response as the application sent it.
#[derive(Debug)]
pub(crate) struct ReplyBody {
    pub(crate) content: ReplyContent,
    /// Whether the application applied the chunked coding itself.
    pub(crate) is_chunked: bool,
    /// Whether the application failed, and this is the server's sentence.
    pub(crate) is_failure: bool,
}

/// Where the bytes of a body come from.
#[derive(Debug)]
pub(crate) enum ReplyContent {
    Full(Bytes),
    File(FileRange),
    Stream(ReplyStream),
    /// No body: the application takes over the connection.
    Tunnel(Box<Tunnel>),
}

/// A part of a file.
#[derive(Debug, Clone)]
pub(crate) struct FileRange {
    pub(crate) file: Arc<SlowFile>,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// Whether a client may request ranges of it.
    pub(crate) allows_ranges: bool,
}

impl ReplyBody {
    /// No body.
    pub(crate) fn empty() -> ReplyBody {
        ReplyBody::full(Bytes::new())
    }

    /// A body in memory.
    pub(crate) fn full(bytes: Bytes) -> ReplyBody {
        ReplyContent::Full(bytes).into()
    }

    /// Marks the body as one that the application has chunked.
    pub(crate) fn chunked(mut self) -> ReplyBody {
        self.is_chunked = true;
        self
    }

    /// Length in bytes, if it is known.
    pub(crate) fn length(&self) -> Option<u64> {
        match &self.content {
            _ if self.is_chunked => None,
            ReplyContent::Full(bytes) => Some(bytes.len() as u64),
            ReplyContent::File(range) => Some(range.length),
            ReplyContent::Stream(_) | ReplyContent::Tunnel(_) => None,
        }
    }
}

impl From<ReplyContent> for ReplyBody {
    fn from(content: ReplyContent) -> ReplyBody {
        ReplyBody {
            content,
            is_chunked: false,
            is_failure: false,
        }
    }
}

impl FileRange {
    /// `length` bytes from `offset`.
    pub(crate) fn new(file: impl Into<SlowFile>, offset: u64, length: u64) -> FileRange {
        FileRange {
            file: Arc::new(file.into()),
            offset,
            length,
            allows_ranges: false,
        }
    }

    /// The bytes of `range`, which counts from the first byte and must not exceed the length.
    pub(crate) fn part(&self, range: &Range<u64>) -> FileRange {
        FileRange {
            file: Arc::clone(&self.file),
            offset: self.offset + range.start,
            length: range.end - range.start,
            allows_ranges: false,
        }
    }
}
