//! The part of a header block that a frame carries (RFC 9113, sections 6.2 and 6.10).

use crate::guard::frame_parts::FrameHeader;

const HEADERS: u8 = 0x1;
const CONTINUATION: u8 = 0x9;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;
const PRIORITY_BYTES: usize = 5;

/// The place of the header block in a HEADERS or CONTINUATION frame.
pub(crate) struct BlockFrame {
    /// Whether the length of the padding comes next.
    is_padded: bool,
    /// Bytes of a priority that are still to come.
    priority: usize,
    /// Bytes of the block that are still to come.
    left: usize,
    /// Whether the block ends with this frame.
    is_last: bool,
}

impl BlockFrame {
    /// The place of the block in a frame; `None` for a frame without a block.
    pub(crate) fn of(header: FrameHeader) -> Option<BlockFrame> {
        let has = |flag| header.kind == HEADERS && header.flags & flag != 0;
        matches!(header.kind, HEADERS | CONTINUATION).then(|| BlockFrame {
            is_padded: has(PADDED),
            priority: if has(PRIORITY) { PRIORITY_BYTES } else { 0 },
            left: header.length,
            is_last: header.flags & END_HEADERS != 0,
        })
    }

    /// The bytes of the block in this part of the payload.
    pub(crate) fn take<'a>(&mut self, payload: &'a mut [u8]) -> &'a mut [u8] {
        let mut skipped = 0;
        if let (true, Some(padding)) = (self.is_padded && self.left > 0, payload.first()) {
            self.is_padded = false;
            self.left = self.left.saturating_sub(1 + usize::from(*padding));
            skipped = 1;
        }
        let own = self.left.min(payload.len() - skipped);
        self.left -= own;
        let end = skipped + own;
        let priority = self.priority.min(own);
        self.priority -= priority;
        &mut payload[skipped + priority..end]
    }

    /// Whether the block has come to its end.
    pub(crate) fn ends_block(&self) -> bool {
        self.is_last && self.left == 0
    }
}
