use std::error::Error;
use std::fmt;
use std::mem::replace;

use super::brotli::BrotliEncoder;
use super::deflate::{DeflateEncoder, Wrap};
use super::jitter;
use super::then::Then;
use super::zstd::ZstdEncoder;
use crate::Coding;

/// An error of an encoder; `cause` is the message of the library.
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

/// The compression level of each coding, from fast to small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Levels {
    /// The level of gzip and deflate: 1 to 9.
    pub gzip: u32,
    /// The level of br: 0 to 11.
    pub brotli: u32,
    /// The level of zstd: 1 to 19.
    pub zstd: i32,
}

/// Encodes a body into its own buffer, which is reused for further pieces and bodies.
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
pub struct Encoder {
    /// The coding of the output.
    pub coding: Coding,
    inner: CodingEncoder,
    output: Vec<u8>,
    /// Whether the body has got the bytes that hide its length.
    is_lengthened: bool,
}

enum CodingEncoder {
    Deflate(DeflateEncoder),
    Brotli(BrotliEncoder),
    Zstd(ZstdEncoder),
}

impl Encoder {
    /// Creates an encoder for one body; [`Encoder::reset`] prepares it for the next.
    pub fn new(coding: Coding, levels: Levels) -> Encoder {
        let inner = match coding {
            Coding::Gzip => CodingEncoder::Deflate(DeflateEncoder::new(Wrap::Gzip, levels.gzip)),
            Coding::Deflate => CodingEncoder::Deflate(DeflateEncoder::new(Wrap::Zlib, levels.gzip)),
            Coding::Brotli => CodingEncoder::Brotli(BrotliEncoder::new(levels.brotli)),
            Coding::Zstd => CodingEncoder::Zstd(ZstdEncoder::new(levels.zstd)),
        };
        Encoder {
            coding,
            inner,
            output: Vec::new(),
            is_lengthened: false,
        }
    }

    /// Encodes pieces of the body and returns the output, which is longer than needed by up to
    /// [`JITTER_BYTES`](crate::JITTER_BYTES) bytes.
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
        self.write_metadata(pieces)?;
        for piece in others {
            self.encode_one(piece.as_ref(), Then::More)?;
        }
        self.encode_one(last, then)?;
        if !self.output.is_empty() && !replace(&mut self.is_lengthened, true) {
            jitter::lengthen(self.coding, pieces, &mut self.output);
        }
        Ok(&self.output)
    }

    /// Begins a body in br, whose blocks begin at any bit, with bytes that hide its length.
    fn write_metadata<P: AsRef<[u8]>>(&mut self, pieces: &[P]) -> Result<(), EncodeError> {
        let CodingEncoder::Brotli(brotli) = &mut self.inner else {
            return Ok(());
        };
        if replace(&mut self.is_lengthened, true) {
            return Ok(());
        }
        let length = jitter::metadata_length(pieces);
        let done = brotli.write_metadata(length, &mut self.output);
        done.map_err(|cause| EncodeError {
            coding: self.coding,
            cause,
        })
    }

    fn encode_one(&mut self, piece: &[u8], then: Then) -> Result<(), EncodeError> {
        let output = &mut self.output;
        let done = match &mut self.inner {
            CodingEncoder::Deflate(deflate) => deflate.encode(piece, then, output),
            CodingEncoder::Brotli(brotli) => brotli.encode(piece, then, output),
            CodingEncoder::Zstd(zstd) => zstd.encode(piece, then, output),
        };
        done.map_err(|cause| EncodeError {
            coding: self.coding,
            cause,
        })
    }

    /// Discards the body, complete or not.
    pub fn reset(&mut self) {
        self.is_lengthened = false;
        match &mut self.inner {
            CodingEncoder::Deflate(deflate) => deflate.reset(),
            CodingEncoder::Brotli(brotli) => brotli.reset(),
            CodingEncoder::Zstd(zstd) => zstd.reset(),
        }
    }
}
