use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::ops::Range;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderValue;

use super::FileBody;

/// Parts of a file, each with a head of its own: `multipart/byteranges` (RFC 9110, 14.6).
#[derive(Debug)]
pub(super) struct PartsBody {
    pieces: VecDeque<Piece>,
    left: u64,
}

#[derive(Debug)]
enum Piece {
    Text(Bytes),
    File(FileBody),
}

impl PartsBody {
    /// These ranges of `file`, whose content has this type.
    pub(super) fn new(
        file: &FileBody,
        ranges: &[Range<u64>],
        content_type: Option<&HeaderValue>,
        boundary: &str,
    ) -> PartsBody {
        let length = file.left();
        // One head for all parts, but for the figures.
        let opening = opening(content_type, boundary);
        let mut pieces = VecDeque::with_capacity(3 * ranges.len() + 1);
        for range in ranges {
            let figures = format!("{}-{}/{length}\r\n\r\n", range.start, range.end - 1);
            pieces.push_back(Piece::Text(opening.clone()));
            pieces.push_back(Piece::Text(figures.into()));
            pieces.push_back(Piece::File(file.part(range)));
        }
        pieces.push_back(Piece::Text(format!("\r\n--{boundary}--\r\n").into()));
        let left = pieces.iter().map(Piece::length).sum();
        PartsBody { pieces, left }
    }

    /// Bytes still to come.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// The next piece; an error when the file has become shorter.
    pub(super) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        while let Some(piece) = self.pieces.front_mut() {
            let bytes = match piece {
                Piece::Text(text) if text.is_empty() => None,
                Piece::Text(text) => Some(Ok(std::mem::take(text))),
                Piece::File(file) => ready!(file.poll_piece(cx)),
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

impl Piece {
    fn length(&self) -> u64 {
        match self {
            Piece::Text(text) => text.len() as u64,
            Piece::File(file) => file.left(),
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

/// A line that no content has, but by a chance of 2 to the power of -128: the keys of the standard
/// library's hashers are random, and nobody is told of them.
pub(super) fn boundary() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}
