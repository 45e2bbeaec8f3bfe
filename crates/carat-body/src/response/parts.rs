use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::ops::Range;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderValue;

use super::file::FileBody;
use carat_exchange::FileRange;

/// Parts of a file, each with its own headers: `multipart/byteranges` (RFC 9110, 14.6).
pub(super) struct PartsBody {
    pieces: VecDeque<PartsPiece>,
    left: u64,
}

enum PartsPiece {
    Text(Bytes),
    File(FileBody),
}

impl PartsBody {
    /// These ranges of `file`, whose content has this type.
    pub(super) fn new(
        file: &FileRange,
        ranges: &[Range<u64>],
        content_type: Option<&HeaderValue>,
        boundary: &str,
    ) -> PartsBody {
        let length = file.length;
        // The headers of the parts differ only in the numbers of their range.
        let opening = opening(content_type, boundary);
        let mut pieces = VecDeque::with_capacity(3 * ranges.len() + 1);
        for range in ranges {
            let numbers = format!("{}-{}/{length}\r\n\r\n", range.start, range.end - 1);
            pieces.push_back(PartsPiece::Text(opening.clone()));
            pieces.push_back(PartsPiece::Text(numbers.into()));
            pieces.push_back(PartsPiece::File(FileBody::new(file.part(range))));
        }
        pieces.push_back(PartsPiece::Text(format!("\r\n--{boundary}--\r\n").into()));
        let left = pieces.iter().map(PartsPiece::length).sum();
        PartsBody { pieces, left }
    }

    /// Bytes still to come.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// The next piece; an error when the file was truncated.
    pub(super) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        while let Some(piece) = self.pieces.front_mut() {
            let bytes = match piece {
                PartsPiece::Text(text) if text.is_empty() => None,
                PartsPiece::Text(text) => Some(Ok(std::mem::take(text))),
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
