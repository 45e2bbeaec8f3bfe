use std::io;
use std::task::{Context, Poll, ready};

use bytes::Bytes;

use super::dechunk::Dechunk;
use super::parts::PartsBody;
use super::{FileBody, StreamBody};

/// The body of an answer as the application means it: without a coding of the server's.
pub(super) struct Plain {
    content: Content,
    dechunk: Option<Box<Dechunk>>,
}

/// Where a body comes from.
pub(super) enum Content {
    Full(Bytes),
    File(FileBody),
    Parts(Box<PartsBody>),
    Stream(StreamBody),
}

impl Plain {
    pub(super) fn new(content: Content) -> Plain {
        Plain {
            content,
            dechunk: None,
        }
    }

    /// Takes off the chunked coding that the application has given it.
    pub(super) fn dechunk(&mut self) {
        self.dechunk = Some(Box::new(Dechunk::new()));
    }

    /// The file that the body is, if it is one.
    pub(super) fn file(&self) -> Option<&FileBody> {
        match &self.content {
            Content::File(file) if self.dechunk.is_none() => Some(file),
            _ => None,
        }
    }

    /// The body as one piece of `limit` bytes at most, or as it was.
    pub(super) fn into_whole(self, limit: u64) -> Result<Whole, Plain> {
        if self.length().is_none_or(|length| length > limit) {
            return Err(self);
        }
        match self.content {
            Content::Full(bytes) => Ok(Whole::Bytes(bytes)),
            Content::File(file) => Ok(Whole::File(file)),
            Content::Parts(_) | Content::Stream(_) => Err(self),
        }
    }

    /// Whether the next piece may be long in coming, because it is still being made.
    pub(super) fn is_live(&self) -> bool {
        matches!(self.content, Content::Stream(_))
    }

    /// How many bytes are to come, if that is known.
    pub(super) fn length(&self) -> Option<u64> {
        match &self.content {
            _ if self.dechunk.is_some() => None,
            Content::Full(bytes) => Some(bytes.len() as u64),
            Content::File(file) => Some(file.left()),
            Content::Parts(parts) => Some(parts.left()),
            Content::Stream(_) => None,
        }
    }

    /// The next piece.
    pub(super) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
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
}

/// A body that is there as one piece.
pub(super) enum Whole {
    Bytes(Bytes),
    File(FileBody),
}

impl Whole {
    /// Its bytes; this may wait for a disk.
    pub(super) fn read(self) -> io::Result<Bytes> {
        match self {
            Whole::Bytes(bytes) => Ok(bytes),
            Whole::File(file) => file.read_whole(),
        }
    }
}
