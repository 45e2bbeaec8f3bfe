use super::coding_decoder::CodingDecoder;
use super::outer_coding::OuterCoding;
use super::{DecodeError, DecodeLimits, DecodeStep};
use crate::Codings;

/// Decodes a body in steps. Each step reads some input and fills some output, in buffers of the
/// caller.
///
/// ```
/// use carat_coding::{Codings, DecodeLimits, Decoder};
///
/// # fn main() -> Result<(), carat_coding::DecodeError> {
/// let body = b"\x0b\x02\x80hello\x03"; // br
/// let limits = DecodeLimits { size: 1000, ratio: 100 };
/// let codings = Codings::of([b"br".as_slice()]).expect("a known coding");
/// let mut decoder = Decoder::new(&codings, limits).expect("one coding");
/// let (mut scratch, mut decoded, mut read) = ([0; 4], Vec::new(), 0);
/// loop {
///     let step = decoder.step(&body[read..], &mut scratch)?;
///     read += step.read;
///     decoded.extend_from_slice(&scratch[..step.written]);
///     if !step.more {
///         break;
///     }
/// }
/// decoder.finish()?;
/// assert_eq!(decoded, b"hello");
/// # Ok(())
/// # }
/// ```
pub struct Decoder {
    /// The coding that was applied last, when there are two.
    outer: Option<OuterCoding>,
    stage: CodingDecoder,
    limits: DecodeLimits,
    read: u64,
    written: u64,
}

impl Decoder {
    /// A decoder for a body with these codings; `None` when there is nothing to decode.
    pub fn new(codings: &Codings, limits: DecodeLimits) -> Option<Decoder> {
        let (&innermost, others) = codings.applied().split_first()?;
        Some(Decoder {
            outer: others.first().copied().map(OuterCoding::new),
            stage: CodingDecoder::new(innermost),
            limits,
            read: 0,
            written: 0,
        })
    }

    /// Decodes from `input` to `output`, which must not be empty. The caller offers unread input
    /// again.
    ///
    /// The two buffers bound the work of a step. After an error, do not call `step` again, and discard
    /// the output.
    pub fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<DecodeStep, DecodeError> {
        let step = match &mut self.outer {
            None => self.stage.step(input, output)?,
            Some(outer) => stacked(outer, &mut self.stage, input, output)?,
        };
        self.read += step.read as u64;
        self.written += step.written as u64;
        let most = self
            .outer
            .as_ref()
            .map_or(0, OuterCoding::written)
            .max(self.written);
        self.limits.check(self.read, most)?;
        Ok(step)
    }

    /// Bytes that the decoder has allocated, above all for the window that the stream asks for.
    pub fn memory(&self) -> usize {
        let outer = self.outer.as_ref().map_or(0, OuterCoding::memory);
        self.stage.memory() + outer
    }

    /// Checks that the body may end here. An empty body is valid in every coding.
    pub fn finish(&self) -> Result<(), DecodeError> {
        let complete =
            self.stage.is_complete() && self.outer.as_ref().is_none_or(OuterCoding::is_complete);
        if complete || self.read == 0 {
            Ok(())
        } else {
            Err(DecodeError::Truncated)
        }
    }
}

/// A step through two decoders, for a body with two codings.
fn stacked(
    outer: &mut OuterCoding,
    stage: &mut CodingDecoder,
    input: &[u8],
    output: &mut [u8],
) -> Result<DecodeStep, DecodeError> {
    let read = outer.fill(input)?;
    let step = stage.step(outer.unread(), output)?;
    outer.advance(step.read);
    let more = step.more || outer.more() || read < input.len();
    Ok(DecodeStep { read, more, ..step })
}
