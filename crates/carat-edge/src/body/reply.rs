use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::encoded::Encoded;
use super::parts::PartsBody;
use super::plain::{Content, Plain, Whole};
use super::{FileBody, StreamBody};
use crate::http::Finish;

/// The body of an answer. When it is dropped, sent or not, the request is over.
pub(crate) struct ReplyBody {
    plain: Plain,
    encoded: Option<Box<Encoded>>,
    finish: Option<Finish>,
}

impl ReplyBody {
    fn of(content: Content) -> ReplyBody {
        ReplyBody::plain(Plain::new(content))
    }

    fn plain(plain: Plain) -> ReplyBody {
        ReplyBody {
            plain,
            encoded: None,
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
        self.plain.dechunk();
        self
    }

    /// The same body in a content coding.
    pub(super) fn encoded(mut self, encoded: Encoded) -> ReplyBody {
        self.encoded = Some(Box::new(encoded));
        self
    }

    /// Ends the request when the body is dropped.
    pub(crate) fn finish_with(&mut self, finish: Finish) {
        self.finish = Some(finish);
    }

    /// The file that the body is, if a client may ask for ranges of it.
    pub(super) fn ranged_file(&self) -> Option<&FileBody> {
        self.plain.file().filter(|file| file.allows_ranges())
    }

    /// The body as one piece of `limit` bytes at most, or as it was; nobody has been told yet when
    /// it ends.
    pub(super) fn into_whole(self, limit: u64) -> Result<Whole, ReplyBody> {
        self.plain.into_whole(limit).map_err(ReplyBody::plain)
    }

    /// How many bytes are to come, if that is known.
    pub(crate) fn length(&self) -> Option<u64> {
        self.plain.length().filter(|_| self.encoded.is_none())
    }

    /// The next piece as the client gets it.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        match &mut self.encoded {
            Some(encoded) => encoded.poll_piece(&mut self.plain, cx),
            None => self.plain.poll_piece(cx),
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
