//! What is wrong with the header blocks of HTTP/2 that their decoder keeps to itself.

use crate::frame_parts::{FrameHeader, FramePart, FrameParts};
use crate::frames::PREFACE;
use crate::hpack_block::HpackBlocks;

const HEADERS: u8 = 0x1;
const CONTINUATION: u8 = 0x9;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;
const PRIORITY_BYTES: usize = 5;

/// What is wrong with a header block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockFault {
    /// `:path` contains `#`. No client may send one (RFC 9113, section 8.3.1), and the `http` crate drops what follows:
    /// another server would see another target.
    Fragment,
    /// Its fields are more than the limit. `h2` responds with 431 without telling anyone else.
    TooLarge,
}

/// Looks into the header blocks of a connection.
///
/// ```
/// use carat_guard::{BlockFault, HeaderBlocks, PREFACE};
///
/// let mut blocks = HeaderBlocks::new(65_536);
/// let mut faults = Vec::new();
/// blocks.pass(PREFACE, |_, _| {});
/// blocks.pass(b"\0\0\x05\x01\x05\0\0\0\x01\x44\x03/#a", |stream, fault| faults.push((stream, fault)));
/// assert_eq!(faults, [(1, BlockFault::Fragment)]);
/// ```
#[derive(Debug)]
pub struct HeaderBlocks {
    parts: FrameParts,
    blocks: HpackBlocks,
    frame: BlockFrame,
    max_header_bytes: usize,
}

/// The part of a header block that a frame carries (RFC 9113, sections 6.2 and 6.10).
#[derive(Debug, Default)]
struct BlockFrame {
    stream: u32,
    /// Whether the length of the padding comes next.
    is_padded: bool,
    /// Bytes of a priority that are still to come.
    priority: usize,
    /// Bytes of the block that are still to come.
    left: usize,
    /// Whether the block ends with this frame.
    is_last: bool,
}

impl HeaderBlocks {
    /// For a new connection, which begins with the preface.
    #[must_use]
    pub fn new(max_header_bytes: usize) -> Self {
        Self {
            parts: FrameParts::after(PREFACE.len()),
            blocks: HpackBlocks::default(),
            frame: BlockFrame::default(),
            max_header_bytes,
        }
    }

    /// Looks at `bytes`, which follow those of the last call. `note` gets the streams of faulty blocks.
    pub fn pass(&mut self, mut bytes: &[u8], mut note: impl FnMut(u32, BlockFault)) {
        while let Some(part) = self.parts.next(&mut bytes) {
            match part {
                FramePart::Header(header) => self.frame = BlockFrame::new(header),
                FramePart::Payload(payload) => self.blocks.pass(self.frame.block(payload)),
            }
            if self.frame.is_last && self.frame.left == 0 {
                self.frame.is_last = false;
                let summary = self.blocks.end();
                // h2 takes less than the limit.
                if summary.size >= self.max_header_bytes {
                    note(self.frame.stream, BlockFault::TooLarge);
                } else if summary.has_fragment {
                    note(self.frame.stream, BlockFault::Fragment);
                }
            }
        }
    }
}

impl BlockFrame {
    fn new(header: FrameHeader) -> BlockFrame {
        let FrameHeader {
            length,
            kind,
            flags,
            stream,
        } = header;
        let has = |flag| kind == HEADERS && flags & flag != 0;
        let is_block = matches!(kind, HEADERS | CONTINUATION);
        BlockFrame {
            stream,
            is_padded: has(PADDED),
            priority: if has(PRIORITY) { PRIORITY_BYTES } else { 0 },
            left: if is_block { length } else { 0 },
            is_last: is_block && flags & END_HEADERS != 0,
        }
    }

    /// The bytes of the block in this part of the payload.
    fn block<'a>(&mut self, mut payload: &'a [u8]) -> &'a [u8] {
        payload = &payload[..payload.len().min(self.left)];
        if self.is_padded {
            let Some((&padding, rest)) = payload.split_first() else {
                return payload;
            };
            self.is_padded = false;
            self.left = self.left.saturating_sub(1 + usize::from(padding));
            payload = &rest[..rest.len().min(self.left)];
        }
        let (skipped, block) = payload.split_at(self.priority.min(payload.len()));
        self.priority -= skipped.len();
        self.left -= payload.len();
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BAD: &[u8] = b"\x44\x04/a#b";

    fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len()).expect("short");
        [&[0, 0, length, kind, flags, 0, 0, 0, stream], payload].concat()
    }

    /// What is found, however the bytes are cut.
    fn found(frames: &[Vec<u8>]) -> Vec<(u32, BlockFault)> {
        let bytes = [&PREFACE[..], &frames.concat()].concat();
        let found = |size| {
            let (mut blocks, mut faults) = (HeaderBlocks::new(300), Vec::new());
            for piece in bytes.chunks(size) {
                blocks.pass(piece, |stream, fault| faults.push((stream, fault)));
            }
            faults
        };
        let whole = found(bytes.len());
        (1..bytes.len()).for_each(|size| assert_eq!(found(size), whole, "pieces of {size}"));
        whole
    }

    #[test]
    fn a_block_may_be_padded_prioritized_and_continued() {
        let padded = [&[3][..], BAD, b"###"].concat();
        let both = [&[2, 0, 0, 0, 0, 9][..], BAD, b"##"].concat();
        let prioritized = [&[0, 0, 0, 0, 9][..], BAD].concat();
        let frames = [
            frame(HEADERS, END_HEADERS | PADDED, 1, &padded),
            frame(HEADERS, END_HEADERS | PADDED | PRIORITY, 3, &both),
            frame(HEADERS, END_HEADERS | PRIORITY, 5, &prioritized),
            frame(HEADERS, 0, 7, &BAD[..3]),
            frame(CONTINUATION, 0, 7, b""),
            frame(CONTINUATION, END_HEADERS, 7, &BAD[3..]),
            frame(HEADERS, END_HEADERS, 9, b"\x44\x02/a"),
            frame(HEADERS, END_HEADERS, 11, BAD),
        ];
        let expected = [1, 3, 5, 7, 11].map(|stream| (stream, BlockFault::Fragment));
        assert_eq!(found(&frames), expected);
    }

    #[test]
    fn a_block_may_be_as_large_as_the_limit() {
        let block = |bytes| {
            let value = vec![b'x'; bytes];
            let length = u8::try_from(bytes).expect("short");
            let block = [&[0, 1, b'n', 0x7f, length - 127], &value[..], BAD].concat();
            frame(HEADERS, END_HEADERS, 1, &block)
        };
        // Less than the limit, with the names, `:path`, and what each field counts.
        let fits = 299 - 33 - 41;
        let found = [fits, fits + 1].map(|bytes| found(&[block(bytes)]));
        let faults = [BlockFault::Fragment, BlockFault::TooLarge];
        assert_eq!(found, faults.map(|fault| [(1, fault)]));
    }

    #[test]
    fn other_frames_are_passed_over() {
        let frames = [
            frame(0x0, 0, 1, BAD),
            frame(0x4, 0, 0, b""),
            frame(HEADERS, END_HEADERS, 1, b""),
            frame(0x0, END_HEADERS, 1, BAD),
            frame(HEADERS, END_HEADERS | PADDED, 3, b"\x09/a#b"),
            frame(HEADERS, END_HEADERS | PADDED, 5, b""),
        ];
        assert!(found(&frames).is_empty());
    }
}
