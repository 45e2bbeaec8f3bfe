//! The response body that a lane streams at the moment.

use wire::stream::{PIECE_LIMIT, STREAM_WINDOW, Window};

/// How much of a stream may still be sent, and whether anybody wants it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    pub(crate) id: u32,
    allowance: u64,
    pub(crate) is_aborted: bool,
}

impl Stream {
    /// A stream that has just begun.
    pub(crate) fn new(id: u32) -> Stream {
        Stream {
            id,
            allowance: STREAM_WINDOW.into(),
            is_aborted: false,
        }
    }

    /// The edge lets more of it through.
    pub(crate) fn grant(&mut self, window: Window) {
        if window.id == self.id {
            self.allowance = self.allowance.saturating_add(window.bytes.into());
        }
    }

    /// The edge wants no more of request `id`.
    pub(crate) fn abort(&mut self, id: u32) {
        self.is_aborted |= id == self.id;
    }

    /// The part of `data` that may be sent now; empty while the window is closed.
    pub(crate) fn admit<'a>(&mut self, data: &'a [u8]) -> &'a [u8] {
        let allowance = usize::try_from(self.allowance).unwrap_or(usize::MAX);
        let piece = &data[..data.len().min(allowance).min(PIECE_LIMIT)];
        self.allowance -= piece.len() as u64;
        piece
    }
}
