use std::fmt::Debug;
use std::num::NonZeroU32;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Response;

use crate::body::SpoolReservation;
use crate::response::reply_stream::ReplyStream;
use crate::tunnel::Tunnel;
use carat_files::SlowFile;

/// The application's response to a call.
#[derive(Debug)]
pub struct Reply {
    /// Status, header fields, and body.
    pub response: Response<ReplyBody>,
    /// The bytes of `spool_limit` that the body takes until the client has it.
    pub spooled: SpoolReservation,
    /// How long the request waited in the queue, for the application, and for garbage collections.
    pub times: RequestTimes,
}

/// How long the request waited in the queue, for the application, and for garbage collections.
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestTimes {
    /// How long the request waited for a worker.
    pub queue: Duration,
    /// How long the application took to begin its response, in microseconds.
    pub app_micros: u32,
    /// How much of the application's time was spent waiting for full garbage collections, in microseconds.
    pub collection_micros: u32,
}

impl RequestTimes {
    /// How long the application took to begin its response.
    pub fn app(&self) -> Duration {
        Duration::from_micros(self.app_micros.into())
    }

    /// How much of the application's time was spent waiting for full garbage collections.
    pub fn collection(&self) -> Duration {
        Duration::from_micros(self.collection_micros.into())
    }
}

/// The body of a response as the application sent it.
#[derive(Debug)]
pub struct ReplyBody {
    /// Where the bytes are.
    pub content: ReplyContent,
    /// Whether the application applied the chunked coding itself.
    pub is_chunked: bool,
    /// Whether the application failed, and the body is the server's own message.
    pub is_failure: bool,
    /// The generation of the worker that sent the response; `None` when the edge itself responds.
    pub generation: Option<NonZeroU32>,
}

/// Where the bytes of a body come from.
#[derive(Debug)]
pub enum ReplyContent {
    /// The body is in memory.
    Full(Bytes),
    /// The body is in memory, and many clients get it.
    Stored(Rc<dyn StoredBody>),
    /// The body is in an open file.
    File(FileRange),
    /// The bytes arrive from the worker.
    Stream(ReplyStream),
    /// No body: the application takes over the connection.
    Tunnel(Box<Tunnel>),
}

/// A part of a file.
#[derive(Debug, Clone)]
pub struct FileRange {
    /// The open file.
    pub file: Arc<SlowFile>,
    /// The first byte.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
    /// Whether a client may request ranges of the part.
    pub allows_ranges: bool,
}

impl ReplyBody {
    /// No body.
    pub fn empty() -> ReplyBody {
        ReplyBody::full(Bytes::new())
    }

    /// A body in memory.
    pub fn full(bytes: Bytes) -> ReplyBody {
        ReplyContent::Full(bytes).into()
    }

    /// Marks the body as one that the application has chunked.
    #[must_use]
    pub fn chunked(mut self) -> ReplyBody {
        self.is_chunked = true;
        self
    }

    /// Length in bytes, if it is known.
    pub fn length(&self) -> Option<u64> {
        match &self.content {
            _ if self.is_chunked => None,
            ReplyContent::Full(bytes) => Some(bytes.len() as u64),
            ReplyContent::Stored(stored) => Some(stored.plain().len() as u64),
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
            generation: None,
        }
    }
}

impl FileRange {
    /// `length` bytes from `offset`.
    pub fn new(file: impl Into<SlowFile>, offset: u64, length: u64) -> FileRange {
        FileRange {
            file: Arc::new(file.into()),
            offset,
            length,
            allows_ranges: false,
        }
    }

    /// The bytes of `range`, which counts from the first byte and must not exceed the length.
    #[must_use]
    pub fn part(&self, range: &Range<u64>) -> FileRange {
        FileRange {
            file: Arc::clone(&self.file),
            offset: self.offset + range.start,
            length: range.end - range.start,
            allows_ranges: false,
        }
    }
}

/// A whole body in memory that many clients get. They may request ranges of it.
pub trait StoredBody: Debug {
    /// The whole body, as the application sent it.
    fn plain(&self) -> &Bytes;
    /// The body in another form, such as a content coding, if that is kept.
    fn form(&self, name: &'static str) -> Option<Bytes>;
    /// Whether the caller is to make this form of the body, and to call `end_form`. False while another caller makes
    /// it.
    fn begin_form(&self, name: &'static str) -> bool;
    /// Keeps this form of the body; `None` if it could not be made.
    fn end_form(&self, name: &'static str, made: Option<&Bytes>);
}
