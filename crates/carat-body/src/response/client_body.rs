use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;

use super::parts::{PartsBody, Whole};
use super::plain::{FullBody, PlainBody, PlainContent};
use carat_exchange::{FileRange, ReplyBody, StoredBody};

/// The body of a response as the client gets it.
pub struct ClientBody {
    plain: PlainBody,
    transform: Option<Box<dyn BodyTransform>>,
}

/// A transform of a body on its way to the client.
pub trait BodyTransform {
    /// The next piece of the transformed body; `plain` is the body to transform.
    fn poll_piece(
        &mut self,
        plain: &mut PlainBody,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Bytes>>>;
}

impl From<ReplyBody> for ClientBody {
    fn from(body: ReplyBody) -> ClientBody {
        ClientBody::plain(body.into())
    }
}

impl ClientBody {
    fn plain(plain: PlainBody) -> ClientBody {
        ClientBody {
            plain,
            transform: None,
        }
    }

    /// Several ranges of a file.
    pub(super) fn parts(parts: PartsBody) -> ClientBody {
        ClientBody::plain(PlainBody::new(PlainContent::Parts(Box::new(parts))))
    }

    /// Applies this transform to the body: the client gets the bytes that the transform makes.
    #[must_use]
    pub fn transformed(mut self, transform: Box<dyn BodyTransform>) -> ClientBody {
        self.transform = Some(transform);
        self
    }

    /// The whole content, if a client may request ranges of it.
    pub(super) fn ranged(&self) -> Option<Whole> {
        self.plain.ranged()
    }

    /// The stored body, if it is one that many clients share.
    pub fn stored(&self) -> Option<&Rc<dyn StoredBody>> {
        self.plain.stored()
    }

    /// The complete body, if it is in memory or in a file and at most `limit` bytes long; otherwise the body unchanged.
    pub fn into_full(self, limit: u64) -> Result<FullBody, ClientBody> {
        self.plain.into_full(limit).map_err(ClientBody::plain)
    }

    /// Whether the body holds an open file.
    pub fn holds_file(&self) -> bool {
        self.plain.holds_file()
    }

    /// How many bytes of the body are in memory. The bytes of a stream do not count.
    pub fn held_bytes(&self) -> usize {
        self.plain.held_bytes()
    }

    /// How many bytes of the body are still to come, if that is known.
    pub fn length(&self) -> Option<u64> {
        self.plain.length().filter(|_| self.transform.is_none())
    }

    /// The next part of a file that the kernel can send; `None` for any other body.
    pub fn poll_range(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<FileRange>>> {
        match &self.transform {
            Some(_) => Poll::Ready(None),
            None => self.plain.poll_range(cx),
        }
    }

    /// The next piece.
    pub fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        match &mut self.transform {
            Some(transform) => transform.poll_piece(&mut self.plain, cx),
            None => self.plain.poll_piece(cx),
        }
    }
}
