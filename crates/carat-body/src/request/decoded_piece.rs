/// Most bytes of a piece.
pub(super) const PIECE_LIMIT: usize = 64 * 1024;

/// A part of a decoded body in a reused buffer.
#[derive(Debug, Default)]
pub(super) struct DecodedPiece {
    buffer: Vec<u8>,
    length: usize,
}

impl DecodedPiece {
    /// The decoded bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// The room for more bytes.
    pub(super) fn room(&mut self) -> &mut [u8] {
        self.buffer.resize(PIECE_LIMIT, 0);
        &mut self.buffer[self.length..]
    }

    /// Adds bytes that were written to the room.
    pub(super) fn fill(&mut self, bytes: usize) {
        self.length += bytes;
    }

    /// Whether there is no room left.
    pub(super) fn is_full(&self) -> bool {
        self.length == PIECE_LIMIT
    }

    /// Whether it takes memory.
    pub(super) fn is_allocated(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Empties the piece.
    pub(super) fn clear(&mut self) {
        self.length = 0;
    }
}
