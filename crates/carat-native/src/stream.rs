//! A response body that a lane streams.

use carat_wire::stream::{PIECE_LIMIT, STREAM_WINDOW};

/// How much of a stream may still be sent, and whether anybody wants it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    allowance: u64,
    pub(crate) is_aborted: bool,
}

impl Default for Stream {
    fn default() -> Stream {
        Stream {
            allowance: STREAM_WINDOW.into(),
            is_aborted: false,
        }
    }
}

impl Stream {
    /// The edge lets more of it through.
    pub(crate) fn grant(&mut self, bytes: u32) {
        self.allowance = self.allowance.saturating_add(bytes.into());
    }

    /// The part of `data` that may be sent now; empty while the window is closed.
    pub(crate) fn admit<'a>(&mut self, data: &'a [u8]) -> &'a [u8] {
        let allowance = usize::try_from(self.allowance).unwrap_or(usize::MAX);
        let piece = &data[..data.len().min(allowance).min(PIECE_LIMIT)];
        self.allowance -= piece.len() as u64;
        piece
    }
}
