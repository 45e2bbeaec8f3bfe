use super::outer::Outer;
use super::stage::Stage;
use super::{DecodeError, DecodeLimits, Step};
use crate::Codings;

/// Decodes a body, step by step: each takes some input and fills some output, both of the caller's.
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
#[derive(Debug)]
pub struct Decoder {
    /// What comes first where two codings are stacked.
    outer: Option<Outer>,
    stage: Stage,
    limits: DecodeLimits,
    read: u64,
    written: u64,
}

impl Decoder {
    /// A decoder for a body with these codings; `None` when there is nothing to decode.
    #[must_use]
    pub fn new(codings: &Codings, limits: DecodeLimits) -> Option<Decoder> {
        let (&innermost, others) = codings.applied().split_first()?;
        Some(Decoder {
            outer: others.first().copied().map(Outer::new),
            stage: Stage::new(innermost),
            limits,
            read: 0,
            written: 0,
        })
    }

    /// Decodes from `input` to `output`, which must not be empty; what was not read has to be given again.
    ///
    /// The work of a step is bounded by the two. After an error there must be no further step, and the output
    /// is worth nothing.
    pub fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, DecodeError> {
        let step = match &mut self.outer {
            None => self.stage.step(input, output)?,
            Some(outer) => stacked(outer, &mut self.stage, (input, output))?,
        };
        self.read += step.read as u64;
        self.written += step.written as u64;
        let most = self
            .outer
            .as_ref()
            .map_or(0, Outer::written)
            .max(self.written);
        self.limits.check(self.read, most)?;
        Ok(step)
    }

    /// The body has ended. One without a byte is a body without a byte, in whatever coding.
    pub fn finish(&self) -> Result<(), DecodeError> {
        let complete =
            self.stage.is_complete() && self.outer.as_ref().is_none_or(Outer::is_complete);
        if complete || self.read == 0 {
            Ok(())
        } else {
            Err(DecodeError::Truncated)
        }
    }
}

/// One step of two codings, one on top of the other.
fn stacked(
    outer: &mut Outer,
    stage: &mut Stage,
    (input, output): (&[u8], &mut [u8]),
) -> Result<Step, DecodeError> {
    let read = outer.fill(input)?;
    let step = stage.step(outer.unread(), output)?;
    outer.advance(step.read);
    let more = step.more || outer.more() || read < input.len();
    Ok(Step { read, more, ..step })
}
