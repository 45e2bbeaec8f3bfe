use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;

use super::dechunk::Dechunk;
use super::file::FileBody;
use super::file_pages::read;
use super::parts::{PartsBody, Whole, next_piece};
use carat_exchange::{FileRange, ReplyBody, ReplyContent, ReplyStream, StoredBody};

/// The body of a response before any transform.
pub struct PlainBody {
    content: PlainContent,
    dechunk: Option<Box<Dechunk>>,
}

/// The source of the bytes of a body.
pub(super) enum PlainContent {
    Full(Bytes),
    Stored(Rc<dyn StoredBody>),
    File(FileBody),
    Parts(Box<PartsBody>),
    Stream(ReplyStream),
}

impl PlainBody {
    pub(super) fn new(content: PlainContent) -> PlainBody {
        PlainBody {
            content,
            dechunk: None,
        }
    }

    /// The whole content, if a client may request ranges of it.
    pub(super) fn ranged(&self) -> Option<Whole> {
        match &self.content {
            PlainContent::File(file) if self.dechunk.is_none() => {
                let file = file.rest();
                file.allows_ranges.then(|| Whole::File(file.clone()))
            }
            PlainContent::Stored(stored) => Some(Whole::Bytes(stored.plain().clone())),
            _ => None,
        }
    }

    /// The stored body, if it is one that many clients share.
    pub(super) fn stored(&self) -> Option<&Rc<dyn StoredBody>> {
        match &self.content {
            PlainContent::Stored(stored) => Some(stored),
            _ => None,
        }
    }

    /// Whether the body holds an open file.
    pub(super) fn holds_file(&self) -> bool {
        matches!(self.content, PlainContent::File(_) | PlainContent::Parts(_))
    }

    /// How many bytes of the body are in memory.
    pub(super) fn held_bytes(&self) -> usize {
        match &self.content {
            PlainContent::Full(bytes) => bytes.len(),
            _ => 0,
        }
    }

    /// The complete body, if it is in memory or in a file and at most `limit` bytes long; otherwise the body unchanged.
    pub(super) fn into_full(self, limit: u64) -> Result<FullBody, PlainBody> {
        if self.length().is_none_or(|length| length > limit) {
            return Err(self);
        }
        match self.content {
            PlainContent::Full(bytes) => Ok(bytes.into()),
            PlainContent::File(file) => Ok(FullBody(FullContent::File(file))),
            PlainContent::Stored(_) | PlainContent::Parts(_) | PlainContent::Stream(_) => Err(self),
        }
    }

    /// Whether the application is still producing the body.
    pub fn is_live(&self) -> bool {
        matches!(self.content, PlainContent::Stream(_))
    }

    /// How many bytes of the body are still to come, if that is known.
    pub(super) fn length(&self) -> Option<u64> {
        match &self.content {
            _ if self.dechunk.is_some() => None,
            PlainContent::Full(bytes) => Some(bytes.len() as u64),
            PlainContent::Stored(stored) => Some(stored.plain().len() as u64),
            PlainContent::File(file) => Some(file.left()),
            PlainContent::Parts(parts) => Some(parts.left()),
            PlainContent::Stream(_) => None,
        }
    }

    /// The next part of a file that the kernel can send; `None` for any other body.
    pub(super) fn poll_range(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<FileRange>>> {
        match &mut self.content {
            PlainContent::File(file) if self.dechunk.is_none() => file.poll_range(cx),
            _ => Poll::Ready(None),
        }
    }

    /// The next piece.
    pub fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        loop {
            if let Some(piece) = self
                .dechunk
                .as_mut()
                .and_then(|dechunk| dechunk.next_piece())
            {
                return Poll::Ready(Some(Ok(piece)));
            }
            let content = ready!(self.poll_content(cx));
            let Some(dechunk) = &mut self.dechunk else {
                return Poll::Ready(content);
            };
            match content {
                Some(Ok(sent)) => dechunk.feed(&sent)?,
                None => {
                    let last = dechunk.finish()?;
                    self.content = PlainContent::Full(Bytes::new());
                    self.dechunk = None;
                    return Poll::Ready(last.map(Ok));
                }
                error => return Poll::Ready(error),
            }
        }
    }

    /// The next piece as the application sent it.
    fn poll_content(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if let PlainContent::Stored(stored) = &self.content {
            self.content = PlainContent::Full(stored.plain().clone());
        }
        match &mut self.content {
            PlainContent::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            PlainContent::Full(bytes) => Poll::Ready(Some(Ok(next_piece(bytes)))),
            PlainContent::Stored(_) => Poll::Ready(None),
            PlainContent::File(file) => file.poll_piece(cx),
            PlainContent::Parts(parts) => parts.poll_piece(cx),
            PlainContent::Stream(stream) => stream.poll_piece(cx),
        }
    }
}

impl From<ReplyBody> for PlainBody {
    fn from(body: ReplyBody) -> PlainBody {
        let content = match body.content {
            ReplyContent::Full(bytes) => PlainContent::Full(bytes),
            ReplyContent::Stored(stored) => PlainContent::Stored(stored),
            ReplyContent::File(range) => PlainContent::File(FileBody::new(range)),
            ReplyContent::Stream(stream) => PlainContent::Stream(stream),
            // A tunnel gets here only if the connection stays with HTTP: nobody uses it then.
            ReplyContent::Tunnel(_) => PlainContent::Full(Bytes::new()),
        };
        PlainBody {
            content,
            dechunk: body.is_chunked.then(|| Box::new(Dechunk::new())),
        }
    }
}

/// A complete body, in memory or in a file.
pub struct FullBody(FullContent);

enum FullContent {
    Bytes(Bytes),
    File(FileBody),
}

impl FullBody {
    /// The bytes, which a thread reads if they are in a file.
    pub async fn read(self) -> io::Result<Bytes> {
        match self.0 {
            FullContent::Bytes(bytes) => Ok(bytes),
            FullContent::File(file) => read(|| file.read_all()).await,
        }
    }
}

impl From<Bytes> for FullBody {
    fn from(bytes: Bytes) -> FullBody {
        FullBody(FullContent::Bytes(bytes))
    }
}
