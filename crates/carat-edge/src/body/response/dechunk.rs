use std::collections::VecDeque;
use std::io;

use bytes::Bytes;

use carat_guard::{Chunked, ChunkedEvent, HeaderLimits};

/// Limits on the trailers of an application, which are parsed and dropped.
const TRAILER_LIMITS: HeaderLimits = HeaderLimits {
    max_header_bytes: 16 * 1024,
    max_headers: 100,
    max_uri: 0,
};

/// Removes the chunked coding that the application applied itself, as `Rack::Chunked` does. The
/// server frames the response on its own.
pub(super) struct Dechunk {
    coding: Chunked,
    /// Content of the bytes that were fed last.
    pieces: VecDeque<Bytes>,
    ended: bool,
}

impl Dechunk {
    pub(super) fn new() -> Dechunk {
        Dechunk {
            coding: Chunked::new(&TRAILER_LIMITS),
            pieces: VecDeque::new(),
            ended: false,
        }
    }

    /// Parses the next bytes of the application.
    pub(super) fn feed(&mut self, sent: &Bytes) -> io::Result<()> {
        for event in self.coding.events(sent) {
            match event {
                Ok(ChunkedEvent::Data(range)) => self.pieces.push_back(sent.slice(range)),
                Ok(ChunkedEvent::End(_)) => self.ended = true,
                Err(refusal) => return Err(io::Error::other(refusal.reason())),
            }
        }
        Ok(())
    }

    /// The next piece of content.
    pub(super) fn next_piece(&mut self) -> Option<Bytes> {
        self.pieces.pop_front()
    }

    /// Whether the last chunk has arrived.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(sent: &[&'static [u8]]) -> io::Result<(Vec<u8>, bool)> {
        let mut dechunk = Dechunk::new();
        let mut plain = Vec::new();
        for piece in sent {
            dechunk.feed(&Bytes::from_static(piece))?;
            while let Some(piece) = dechunk.next_piece() {
                plain.extend_from_slice(&piece);
            }
        }
        Ok((plain, dechunk.has_ended()))
    }

    #[test]
    fn the_plain_body_comes_out_wherever_the_pieces_were_cut() {
        let whole = plain(&[b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"]).expect("well formed");
        assert_eq!(whole, (b"abcde".to_vec(), true));
        let cut = plain(&[b"3\r", b"\nab", b"c\r\n", b"2\r\nde\r\n0\r\n", b"\r\n"]);
        assert_eq!(cut.expect("well formed"), whole);
    }

    #[test]
    fn a_coding_that_is_none_is_an_error() {
        assert!(plain(&[b"hello"]).is_err());
    }
}
