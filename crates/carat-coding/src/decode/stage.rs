use super::brotli::Brotli;
use super::inflate::Inflate;
use super::zstd::Zstd;
use super::{DecodeError, Step};
use crate::Coding;

/// The decoder of one coding.
#[derive(Debug)]
pub(super) enum Stage {
    Inflate(Inflate),
    Brotli(Brotli),
    Zstd(Zstd),
}

impl Stage {
    pub(super) fn new(coding: Coding) -> Stage {
        match coding {
            Coding::Gzip => Stage::Inflate(Inflate::gzip()),
            Coding::Deflate => Stage::Inflate(Inflate::deflate()),
            Coding::Brotli => Stage::Brotli(Brotli::new()),
            Coding::Zstd => Stage::Zstd(Zstd::new()),
        }
    }

    /// Decodes from `input` to `output`, until one of them is used up or the stream has ended.
    pub(super) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, DecodeError> {
        match self {
            Stage::Inflate(stage) => stage.step(input, output),
            Stage::Brotli(stage) => stage.step(input, output),
            Stage::Zstd(stage) => stage.step(input, output),
        }
    }

    /// Whether the input may end here.
    pub(super) fn is_complete(&self) -> bool {
        match self {
            Stage::Inflate(stage) => stage.is_complete(),
            Stage::Brotli(stage) => stage.is_complete(),
            Stage::Zstd(stage) => stage.is_complete(),
        }
    }
}
