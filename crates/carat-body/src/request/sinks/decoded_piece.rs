/// The largest size of a piece, in bytes.
pub const PIECE_LIMIT: usize = 64 * 1024;

/// A part of a decoded body in a reused buffer.
#[derive(Default)]
pub struct DecodedPiece {
    buffer: Vec<u8>,
    length: usize,
}

impl DecodedPiece {
    /// The decoded bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// The room for more bytes.
    pub fn room(&mut self) -> &mut [u8] {
        self.buffer.resize(PIECE_LIMIT, 0);
        &mut self.buffer[self.length..]
    }

    /// Adds bytes that were written to the room.
    pub fn fill(&mut self, bytes: usize) {
        self.length += bytes;
    }

    /// Whether there is no room left.
    pub fn is_full(&self) -> bool {
        self.length == PIECE_LIMIT
    }

    /// Whether the piece has allocated its buffer.
    pub fn is_allocated(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Empties the piece.
    pub fn clear(&mut self) {
        self.length = 0;
    }
}
