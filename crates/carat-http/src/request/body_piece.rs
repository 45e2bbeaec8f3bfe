use bytes::{Buf, Bytes};

use carat_exchange::FilePlaceholder;

/// A piece of a response as hyper holds it.
pub(crate) enum BodyPiece {
    Bytes(Bytes),
    /// The stream below hyper sends a part of a file in its place.
    File(FilePlaceholder),
}

impl Buf for BodyPiece {
    fn remaining(&self) -> usize {
        match self {
            BodyPiece::Bytes(bytes) => bytes.remaining(),
            BodyPiece::File(file) => file.remaining(),
        }
    }

    fn chunk(&self) -> &[u8] {
        match self {
            BodyPiece::Bytes(bytes) => bytes.chunk(),
            BodyPiece::File(file) => file.chunk(),
        }
    }

    fn advance(&mut self, count: usize) {
        match self {
            BodyPiece::Bytes(bytes) => bytes.advance(count),
            BodyPiece::File(file) => file.advance(count),
        }
    }
}
