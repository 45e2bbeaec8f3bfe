/// How many bytes a piece holds at most.
const PIECE_LIMIT: usize = 64 * 1024;

/// A part of a decoded body, in a buffer that is used again and again.
#[derive(Debug, Default)]
pub(super) struct DecodedPiece {
    buffer: Vec<u8>,
    length: usize,
}

impl DecodedPiece {
    /// The bytes that it holds.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// Where further bytes go.
    pub(super) fn room(&mut self) -> &mut [u8] {
        self.buffer.resize(PIECE_LIMIT, 0);
        &mut self.buffer[self.length..]
    }

    /// Takes note of so many bytes that were put into the room.
    pub(super) fn fill(&mut self, bytes: usize) {
        self.length += bytes;
    }

    /// Whether there is no room left.
    pub(super) fn is_full(&self) -> bool {
        self.length == PIECE_LIMIT
    }

    /// Forgets what it holds.
    pub(super) fn clear(&mut self) {
        self.length = 0;
    }
}
