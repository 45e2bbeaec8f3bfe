use std::collections::VecDeque;
use std::io;

use bytes::{Bytes, BytesMut};

use carat_guard::{Chunked, ChunkedEvent, HeaderLimits};

/// Limits on the trailers of an application, which are parsed and dropped.
const TRAILER_LIMITS: HeaderLimits = HeaderLimits {
    max_header_bytes: 16 * 1024,
    max_headers: 100,
    max_uri: 0,
};

/// Removes a chunked coding, which some applications apply themselves, for example by
/// `Rack::Chunked`. The server frames the response on its own.
///
/// Some applications, such as proxies that copy all headers, declare the coding and send plain
/// bytes. A body that does not begin with a chunk passes unchanged.
pub(super) struct Dechunk {
    coding: Chunked,
    /// The bytes before the first content: the size of a chunk, or plain content. The limits of the guard bound them.
    start: Option<BytesMut>,
    /// The content found in the bytes that were fed last.
    pieces: VecDeque<Bytes>,
    is_plain: bool,
    has_last_chunk: bool,
}

impl Dechunk {
    pub(super) fn new() -> Dechunk {
        Dechunk {
            coding: Chunked::new(&TRAILER_LIMITS),
            start: Some(BytesMut::new()),
            pieces: VecDeque::new(),
            is_plain: false,
            has_last_chunk: false,
        }
    }

    /// Parses the next bytes of the application.
    pub(super) fn feed(&mut self, sent: &Bytes) -> io::Result<()> {
        if self.is_plain {
            self.pieces.push_back(sent.clone());
            return Ok(());
        }
        for event in self.coding.events(sent) {
            match (event, self.start.take()) {
                (Ok(ChunkedEvent::Data(range)), _) => self.pieces.push_back(sent.slice(range)),
                (Ok(ChunkedEvent::End(_)), _) => self.has_last_chunk = true,
                (Err(_), Some(mut start)) => {
                    start.extend_from_slice(sent);
                    self.pieces.push_back(start.freeze());
                    self.is_plain = true;
                    return Ok(());
                }
                (Err(error), None) => return Err(io::Error::other(error.reason())),
            }
        }
        if let Some(start) = &mut self.start {
            start.extend_from_slice(sent);
        }
        Ok(())
    }

    /// Ends the body, because the application has sent everything. Returns the last piece of content, if there is one.
    pub(super) fn finish(&mut self) -> io::Result<Option<Bytes>> {
        match self.start.take() {
            Some(start) => Ok(Some(start.freeze()).filter(|start| !start.is_empty())),
            None if self.is_plain || self.has_last_chunk => Ok(None),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// The next piece of content.
    pub(super) fn next_piece(&mut self) -> Option<Bytes> {
        self.pieces.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(sent: &[&'static [u8]]) -> io::Result<Vec<u8>> {
        let mut dechunk = Dechunk::new();
        let mut content = Vec::new();
        for piece in sent {
            dechunk.feed(&Bytes::from_static(piece))?;
            while let Some(piece) = dechunk.next_piece() {
                content.extend_from_slice(&piece);
            }
        }
        content.extend_from_slice(&dechunk.finish()?.unwrap_or_default());
        Ok(content)
    }

    #[test]
    fn the_content_is_the_same_wherever_the_pieces_were_cut() {
        let whole = content(&[b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"]).expect("well formed");
        assert_eq!(whole, b"abcde");
        let cut = content(&[b"3\r", b"\nab", b"c\r\n", b"2\r\nde\r\n0\r\n", b"\r\n"]);
        assert_eq!(cut.expect("well formed"), whole);
    }

    #[test]
    fn a_body_that_does_not_begin_with_a_chunk_is_plain() {
        for sent in [
            &[&b"hello"[..]][..],
            &[b"a", b"b", b"c", b", and more"],
            &[b"5\r", b"\r"],
            &[b"5\r\n"],
            &[b"12"],
            &[],
        ] {
            assert_eq!(content(sent).expect("plain"), sent.concat());
        }
    }

    #[test]
    fn a_coding_that_breaks_after_its_first_chunk_is_an_error() {
        assert!(content(&[b"1\r\na\r\nhello"]).is_err());
        assert!(content(&[b"1\r\na\r\n"]).is_err());
    }
}
