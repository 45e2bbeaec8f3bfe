//! How much of a body one call reads.

use carat_wire::stream::STREAM_WINDOW;

/// How much of a body one call reads.
#[derive(Clone, Copy)]
pub enum Portion {
    /// A number of bytes, fewer only at the end.
    Bytes(usize),
    /// The bytes that have arrived, at most a number of them.
    Arrived(usize),
    /// Everything through the next line feed.
    Line,
    /// Everything.
    All,
}

/// A part of what has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut<'a> {
    /// The bytes to take.
    pub piece: &'a [u8],
    /// Whether the piece completes the portion, whatever follows.
    pub is_last: bool,
}

impl Portion {
    /// How many bytes to reserve: at most a window, because the announced bytes have not arrived yet.
    pub fn room(self) -> usize {
        match self {
            Portion::Bytes(length) | Portion::Arrived(length) => length.min(STREAM_WINDOW as usize),
            Portion::Line | Portion::All => 0,
        }
    }

    /// Whether to read on after `count` bytes.
    pub fn is_wanted(self, count: usize) -> bool {
        match self {
            Portion::Bytes(length) | Portion::Arrived(length) => count < length,
            Portion::Line | Portion::All => true,
        }
    }

    /// The part of `arrived` to take after `count` bytes.
    pub fn cut(self, count: usize, arrived: &[u8]) -> Cut<'_> {
        let (length, is_last) = match self {
            Portion::Bytes(length) => (length - count, false),
            Portion::Arrived(length) => (length, true),
            Portion::Line => match arrived.iter().position(|byte| *byte == b'\n') {
                Some(index) => (index + 1, true),
                None => (arrived.len(), false),
            },
            Portion::All => (arrived.len(), false),
        };
        Cut {
            piece: &arrived[..length.min(arrived.len())],
            is_last,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(portion: Portion, count: usize) -> (&'static [u8], bool) {
        let Cut { piece, is_last } = portion.cut(count, b"one\ntwo");
        (piece, is_last)
    }

    #[test]
    fn a_number_of_bytes_is_read_across_pieces() {
        let portion = Portion::Bytes(9);
        assert_eq!(cut(portion, 0), (&b"one\ntwo"[..], false));
        assert!(portion.is_wanted(7));
        assert_eq!(cut(portion, 7), (&b"on"[..], false));
        assert!(!portion.is_wanted(9));
    }

    #[test]
    fn what_has_arrived_is_enough() {
        assert_eq!(cut(Portion::Arrived(100), 0), (&b"one\ntwo"[..], true));
        assert_eq!(cut(Portion::Arrived(2), 0), (&b"on"[..], true));
        assert!(!Portion::Arrived(0).is_wanted(0));
    }

    #[test]
    fn a_line_ends_with_its_line_feed() {
        assert_eq!(cut(Portion::Line, 0), (&b"one\n"[..], true));
        assert_eq!(
            Portion::Line.cut(4, b"two"),
            Cut {
                piece: b"two",
                is_last: false
            }
        );
    }

    #[test]
    fn no_more_is_reserved_than_the_edge_may_send_at_once() {
        assert_eq!(Portion::Bytes(usize::MAX).room(), STREAM_WINDOW as usize);
        assert_eq!(Portion::Bytes(3).room(), 3);
        assert_eq!(Portion::All.room(), 0);
    }
}
