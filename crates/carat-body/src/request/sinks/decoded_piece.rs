/// Most bytes of a piece.
pub(crate) const PIECE_LIMIT: usize = 64 * 1024;

/// A part of a decoded body in a reused buffer.
#[derive(Default)]
pub(crate) struct DecodedPiece {
    buffer: Vec<u8>,
    length: usize,
}

impl DecodedPiece {
    /// The decoded bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// The room for more bytes.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        self.buffer.resize(PIECE_LIMIT, 0);
        &mut self.buffer[self.length..]
    }

    /// Adds bytes that were written to the room.
    pub(crate) fn fill(&mut self, bytes: usize) {
        self.length += bytes;
    }

    /// Whether there is no room left.
    pub(crate) fn is_full(&self) -> bool {
        self.length == PIECE_LIMIT
    }

    /// Whether the piece has allocated its buffer.
    pub(crate) fn is_allocated(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Empties the piece.
    pub(crate) fn clear(&mut self) {
        self.length = 0;
    }
}
