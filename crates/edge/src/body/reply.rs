use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::{FileBody, StreamBody};
use crate::http::Finish;

/// The body of an answer. When it is dropped, sent or not, the request is over.
#[derive(Debug)]
pub(crate) struct ReplyBody {
    content: Content,
    finish: Option<Finish>,
}

#[derive(Debug)]
enum Content {
    Full(Bytes),
    File(FileBody),
    Stream(StreamBody),
}

impl ReplyBody {
    /// No body.
    pub(crate) fn empty() -> ReplyBody {
        ReplyBody::full(Bytes::new())
    }

    /// A body in memory.
    pub(crate) fn full(bytes: Bytes) -> ReplyBody {
        ReplyBody {
            content: Content::Full(bytes),
            finish: None,
        }
    }

    /// A body in a file.
    pub(crate) fn file(file: FileBody) -> ReplyBody {
        ReplyBody {
            content: Content::File(file),
            finish: None,
        }
    }

    /// A body that is still being made.
    pub(crate) fn stream(stream: StreamBody) -> ReplyBody {
        ReplyBody {
            content: Content::Stream(stream),
            finish: None,
        }
    }

    /// The same body, which ends the request when it is dropped.
    pub(crate) fn finishing(mut self, finish: Finish) -> ReplyBody {
        self.finish = Some(finish);
        self
    }

    /// How many bytes are to come, if that is known.
    pub(crate) fn length(&self) -> Option<u64> {
        match &self.content {
            Content::Full(bytes) => Some(bytes.len() as u64),
            Content::File(file) => Some(file.left()),
            Content::Stream(_) => None,
        }
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let piece = match &mut self.content {
            Content::Full(bytes) if bytes.is_empty() => None,
            Content::Full(bytes) => Some(Ok(std::mem::take(bytes))),
            Content::File(file) => ready!(file.poll_piece(cx)),
            Content::Stream(stream) => ready!(stream.poll_piece(cx)),
        };
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
