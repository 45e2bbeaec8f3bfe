use super::brotli::BrotliDecoder;
use super::inflate::{INFLATE_MEMORY, Inflate};
use super::zstd::ZstdDecoder;
use super::{DecodeError, DecodeStep};
use crate::Coding;

/// The decoder of one coding.
pub(super) enum CodingDecoder {
    Inflate(Inflate),
    Brotli(BrotliDecoder),
    Zstd(ZstdDecoder),
}

impl CodingDecoder {
    pub(super) fn new(coding: Coding) -> CodingDecoder {
        match coding {
            Coding::Gzip => CodingDecoder::Inflate(Inflate::gzip()),
            Coding::Deflate => CodingDecoder::Inflate(Inflate::deflate()),
            Coding::Brotli => CodingDecoder::Brotli(BrotliDecoder::new()),
            Coding::Zstd => CodingDecoder::Zstd(ZstdDecoder::new()),
        }
    }

    /// Decodes from `input` to `output` until one of them is used up or the stream ends.
    pub(super) fn step(
        &mut self,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<DecodeStep, DecodeError> {
        match self {
            CodingDecoder::Inflate(stage) => stage.step(input, output),
            CodingDecoder::Brotli(stage) => stage.step(input, output),
            CodingDecoder::Zstd(stage) => stage.step(input, output),
        }
    }

    /// Bytes of memory that the decoder has allocated.
    pub(super) fn memory(&self) -> usize {
        match self {
            CodingDecoder::Inflate(_) => INFLATE_MEMORY,
            CodingDecoder::Brotli(stage) => stage.memory(),
            CodingDecoder::Zstd(stage) => stage.memory(),
        }
    }

    /// Whether the input may end here.
    pub(super) fn is_complete(&self) -> bool {
        match self {
            CodingDecoder::Inflate(stage) => stage.is_complete(),
            CodingDecoder::Brotli(stage) => stage.is_complete(),
            CodingDecoder::Zstd(stage) => stage.is_complete(),
        }
    }
}
