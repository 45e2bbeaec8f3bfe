use std::error::Error;
use std::fmt;

use super::Levels;
use super::brotli::Brotli;
use super::deflate::{Deflate, Wrap};
use super::zstd::Zstd;
use crate::Coding;

/// What comes behind the pieces that an encoder is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// More at once: the encoder may keep what it likes.
    More,
    /// A pause: everything so far can be decoded from what has come out.
    Flush,
    /// Nothing: the body is complete.
    Finish,
}

/// An encoder that could not do its work; `cause` is the library's word for it.
#[derive(Debug, PartialEq, Eq)]
pub struct EncodeError {
    pub(super) coding: Coding,
    pub(super) cause: String,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot encode to {}: {}", self.coding.name(), self.cause)
    }
}

impl Error for EncodeError {}

/// Encodes a body into a buffer of its own, which serves again for the next pieces and the next body.
///
/// ```
/// use carat_coding::{Coding, Encoder, Levels, Then};
///
/// # fn main() -> Result<(), carat_coding::EncodeError> {
/// let levels = Levels { gzip: 6, brotli: 4, zstd: 3 };
/// let mut encoder = Encoder::new(Coding::Gzip, levels);
/// let mut body = encoder.encode(&["a first ", "piece, "], Then::Flush)?.to_vec();
/// body.extend_from_slice(encoder.encode(&["and the last"], Then::Finish)?);
/// assert_eq!(body[..2], [0x1f, 0x8b]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Encoder {
    coding: Coding,
    state: State,
    output: Vec<u8>,
}

#[derive(Debug)]
enum State {
    Deflate(Deflate),
    Brotli(Brotli),
    Zstd(Zstd),
}

impl Encoder {
    /// An encoder for one body; [`Encoder::reset`] makes it ready for the next.
    #[must_use]
    pub fn new(coding: Coding, levels: Levels) -> Encoder {
        let state = match coding {
            Coding::Gzip => State::Deflate(Deflate::new(Wrap::Gzip, levels.gzip)),
            Coding::Deflate => State::Deflate(Deflate::new(Wrap::Zlib, levels.gzip)),
            Coding::Brotli => State::Brotli(Brotli::new(levels.brotli)),
            Coding::Zstd => State::Zstd(Zstd::new(levels.zstd)),
        };
        Encoder {
            coding,
            state,
            output: Vec::new(),
        }
    }

    /// What it encodes to.
    #[must_use]
    pub fn coding(&self) -> Coding {
        self.coding
    }

    /// Encodes these pieces of the body, and returns what has come out.
    pub fn encode<P: AsRef<[u8]>>(
        &mut self,
        pieces: &[P],
        then: Then,
    ) -> Result<&[u8], EncodeError> {
        self.output.clear();
        let (last, others) = match pieces.split_last() {
            Some((last, others)) => (last.as_ref(), others),
            None => (&b""[..], pieces),
        };
        for piece in others {
            self.encode_one(piece.as_ref(), Then::More)?;
        }
        self.encode_one(last, then)?;
        Ok(&self.output)
    }

    fn encode_one(&mut self, piece: &[u8], then: Then) -> Result<(), EncodeError> {
        let output = &mut self.output;
        let done = match &mut self.state {
            State::Deflate(deflate) => deflate.encode(piece, then, output),
            State::Brotli(brotli) => brotli.encode(piece, then, output),
            State::Zstd(zstd) => zstd.encode(piece, then, output),
        };
        done.map_err(|cause| EncodeError {
            coding: self.coding,
            cause,
        })
    }

    /// Forgets the body, complete or not.
    pub fn reset(&mut self) {
        match &mut self.state {
            State::Deflate(deflate) => deflate.reset(),
            State::Brotli(brotli) => brotli.reset(),
            State::Zstd(zstd) => zstd.reset(),
        }
    }
}
