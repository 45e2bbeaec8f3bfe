use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::dechunk::Dechunk;
use super::parts::PartsBody;
use super::{FileBody, StreamBody};
use crate::http::Finish;

/// The body of an answer. When it is dropped, sent or not, the request is over.
pub(crate) struct ReplyBody {
    content: Content,
    dechunk: Option<Box<Dechunk>>,
    finish: Option<Finish>,
}

enum Content {
    Full(Bytes),
    File(FileBody),
    Parts(Box<PartsBody>),
    Stream(StreamBody),
}

impl ReplyBody {
    fn of(content: Content) -> ReplyBody {
        ReplyBody {
            content,
            dechunk: None,
            finish: None,
        }
    }

    /// No body.
    pub(crate) fn empty() -> ReplyBody {
        ReplyBody::full(Bytes::new())
    }

    /// A body in memory.
    pub(crate) fn full(bytes: Bytes) -> ReplyBody {
        ReplyBody::of(Content::Full(bytes))
    }

    /// A body in a file.
    pub(crate) fn file(file: FileBody) -> ReplyBody {
        ReplyBody::of(Content::File(file))
    }

    /// Several ranges of a file.
    pub(super) fn parts(parts: PartsBody) -> ReplyBody {
        ReplyBody::of(Content::Parts(Box::new(parts)))
    }

    /// A body that is still being made.
    pub(crate) fn stream(stream: StreamBody) -> ReplyBody {
        ReplyBody::of(Content::Stream(stream))
    }

    /// The same body without the chunked coding that the application has given it.
    pub(crate) fn dechunked(mut self) -> ReplyBody {
        self.dechunk = Some(Box::new(Dechunk::new()));
        self
    }

    /// Ends the request when the body is dropped.
    pub(crate) fn finish_with(&mut self, finish: Finish) {
        self.finish = Some(finish);
    }

    /// The file that the body is, if a client may ask for ranges of it.
    pub(super) fn ranged_file(&self) -> Option<&FileBody> {
        match &self.content {
            Content::File(file) if file.allows_ranges() && self.dechunk.is_none() => Some(file),
            _ => None,
        }
    }

    /// How many bytes are to come, if that is known.
    pub(crate) fn length(&self) -> Option<u64> {
        match &self.content {
            _ if self.dechunk.is_some() => None,
            Content::Full(bytes) => Some(bytes.len() as u64),
            Content::File(file) => Some(file.left()),
            Content::Parts(parts) => Some(parts.left()),
            Content::Stream(_) => None,
        }
    }

    /// The next piece as the application has sent it.
    fn poll_content(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        match &mut self.content {
            Content::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            Content::Full(bytes) => Poll::Ready(Some(Ok(std::mem::take(bytes)))),
            Content::File(file) => file.poll_piece(cx),
            Content::Parts(parts) => parts.poll_piece(cx),
            Content::Stream(stream) => stream.poll_piece(cx),
        }
    }

    /// The next piece as the client gets it.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
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
                None if !dechunk.has_ended() => {
                    return Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into())));
                }
                other => return Poll::Ready(other),
            }
        }
    }
}

impl fmt::Debug for ReplyBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyBody")
            .field("length", &self.length())
            .finish_non_exhaustive()
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let piece = ready!(self.poll_piece(cx));
        if let (Some(Ok(piece)), Some(finish)) = (&piece, &mut self.finish) {
            finish.count(piece.len());
        }
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.length() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.length()
            .map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
