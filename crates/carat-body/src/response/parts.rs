use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::ops::Range;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderValue;

use super::file::FileBody;
use carat_exchange::{FileRange, ReplyBody, ReplyContent};

/// The largest size of a piece, in bytes: a client that reads slowly is noticed between two pieces.
const PIECE_LIMIT: usize = 64 * 1024;

/// A whole body of which parts can be sent.
pub(super) enum Whole {
    File(FileRange),
    Bytes(Bytes),
}

impl Whole {
    /// The length in bytes.
    pub(super) fn length(&self) -> u64 {
        match self {
            Whole::File(file) => file.length,
            Whole::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// The bytes of `range`, which must not exceed the length.
    pub(super) fn part(&self, range: &Range<u64>) -> ReplyBody {
        match self {
            Whole::File(file) => ReplyContent::File(file.part(range)).into(),
            Whole::Bytes(bytes) => {
                let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
                ReplyBody::full(bytes.slice(index(range.start)..index(range.end)))
            }
        }
    }
}

/// Splits the next piece off.
pub(super) fn next_piece(bytes: &mut Bytes) -> Bytes {
    bytes.split_to(bytes.len().min(PIECE_LIMIT))
}

/// Parts of a whole, each with its own headers: `multipart/byteranges` (RFC 9110, 14.6).
pub(super) struct PartsBody {
    pieces: VecDeque<PartsPiece>,
    left: u64,
}

enum PartsPiece {
    Text(Bytes),
    File(FileBody),
}

impl PartsBody {
    /// The ranges of `whole`, whose content has this type.
    pub(super) fn new(
        whole: &Whole,
        ranges: &[Range<u64>],
        content_type: Option<&HeaderValue>,
        boundary: &str,
    ) -> PartsBody {
        let length = whole.length();
        // The headers of the parts differ only in the numbers of their range.
        let opening = opening(content_type, boundary);
        let mut pieces = VecDeque::with_capacity(3 * ranges.len() + 1);
        for range in ranges {
            let numbers = format!("{}-{}/{length}\r\n\r\n", range.start, range.end - 1);
            pieces.push_back(PartsPiece::Text(opening.clone()));
            pieces.push_back(PartsPiece::Text(numbers.into()));
            pieces.extend(match whole.part(range).content {
                ReplyContent::File(file) => Some(PartsPiece::File(FileBody::new(file))),
                ReplyContent::Full(bytes) => Some(PartsPiece::Text(bytes)),
                _ => None,
            });
        }
        pieces.push_back(PartsPiece::Text(format!("\r\n--{boundary}--\r\n").into()));
        let left = pieces.iter().map(PartsPiece::length).sum();
        PartsBody { pieces, left }
    }

    /// How many bytes are still to come.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// The next piece; an error when the file was truncated.
    pub(super) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        while let Some(piece) = self.pieces.front_mut() {
            let bytes = match piece {
                PartsPiece::Text(text) if text.is_empty() => None,
                PartsPiece::Text(text) => Some(Ok(next_piece(text))),
                PartsPiece::File(file) => ready!(file.poll_piece(cx)),
            };
            let Some(bytes) = bytes else {
                self.pieces.pop_front();
                continue;
            };
            self.left -= bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
            return Poll::Ready(Some(bytes));
        }
        Poll::Ready(None)
    }
}

impl PartsPiece {
    fn length(&self) -> u64 {
        match self {
            PartsPiece::Text(text) => text.len() as u64,
            PartsPiece::File(file) => file.left(),
        }
    }
}

fn opening(content_type: Option<&HeaderValue>, boundary: &str) -> Bytes {
    let mut opening = format!("\r\n--{boundary}\r\n").into_bytes();
    if let Some(content_type) = content_type {
        opening.extend_from_slice(b"content-type: ");
        opening.extend_from_slice(content_type.as_bytes());
        opening.extend_from_slice(b"\r\n");
    }
    opening.extend_from_slice(b"content-range: bytes ");
    opening.into()
}

/// A boundary that occurs in the content with a probability of 2^-128: the standard library's hasher
/// keys are random and secret.
pub(super) fn boundary() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}
