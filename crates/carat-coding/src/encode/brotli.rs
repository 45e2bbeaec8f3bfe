use brotli::enc::StandardAlloc;
use brotli::enc::encode::{
    BrotliEncoderOperation, BrotliEncoderParameter, BrotliEncoderStateStruct,
};

use super::jitter::JITTER_BYTES;
use super::then::Then;

/// A window of 128 KiB. At level 4 an encoder takes 2.2 MB with it, and 5.4 MB with 512 KiB, which does
/// not make 2 MB of JSON smaller. Below 128 KiB, levels 5 to 8 take 35 MB.
const WINDOW_BITS: u32 = 17;

/// The encoder of br. The library cannot reset an encoder, so each body gets a new one.
pub(super) struct BrotliEncoder {
    level: u32,
    state: Option<Box<BrotliEncoderStateStruct<StandardAlloc>>>,
}

impl BrotliEncoder {
    pub(super) fn new(level: u32) -> BrotliEncoder {
        BrotliEncoder { level, state: None }
    }

    pub(super) fn encode(
        &mut self,
        piece: &[u8],
        then: Then,
        output: &mut Vec<u8>,
    ) -> Result<(), String> {
        let operation = match then {
            Then::More => BrotliEncoderOperation::BROTLI_OPERATION_PROCESS,
            Then::Flush => BrotliEncoderOperation::BROTLI_OPERATION_FLUSH,
            Then::Finish => BrotliEncoderOperation::BROTLI_OPERATION_FINISH,
        };
        self.run(operation, piece, output)
    }

    /// Writes this many bytes that decoders skip (RFC 7932, 9.2), or none for one: the library's header in front of a
    /// single byte says that none follows.
    pub(super) fn write_metadata(
        &mut self,
        length: usize,
        output: &mut Vec<u8>,
    ) -> Result<(), String> {
        if length < 2 {
            return Ok(());
        }
        let operation = BrotliEncoderOperation::BROTLI_OPERATION_EMIT_METADATA;
        self.run(operation, &[0; JITTER_BYTES][..length], output)
    }

    fn run(
        &mut self,
        operation: BrotliEncoderOperation,
        piece: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(), String> {
        let finishes = operation == BrotliEncoderOperation::BROTLI_OPERATION_FINISH;
        let state = self.state.get_or_insert_with(|| begin(self.level));
        let (mut left, mut read) = (piece.len(), 0);
        loop {
            // The caller's buffer is empty, so nothing is written to it; the output is taken below.
            let (mut room, mut written, mut total) = (0, 0, None);
            let going = state.compress_stream(
                operation,
                &mut left,
                piece,
                &mut read,
                &mut room,
                &mut [],
                &mut written,
                &mut total,
                &mut |_, _, _, _| (),
            );
            if !going {
                return Err("the encoder refused".to_owned());
            }
            let mut bytes = 0;
            let made = state.take_output(&mut bytes);
            output.extend_from_slice(&made[..bytes]);
            // Without input left, the encoder may still hold some of it in its own buffer.
            let complete = !finishes || state.is_finished();
            if left == 0 && bytes == 0 && complete {
                return Ok(());
            }
        }
    }

    pub(super) fn reset(&mut self) {
        self.state = None;
    }
}

fn begin(level: u32) -> Box<BrotliEncoderStateStruct<StandardAlloc>> {
    let mut state = Box::new(BrotliEncoderStateStruct::new(StandardAlloc::default()));
    state.set_parameter(BrotliEncoderParameter::BROTLI_PARAM_QUALITY, level);
    state.set_parameter(BrotliEncoderParameter::BROTLI_PARAM_LGWIN, WINDOW_BITS);
    state
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Codings, DecodeLimits, Decoder};

    #[test]
    fn metadata_of_any_length_is_skipped_at_any_level() {
        let limits = DecodeLimits {
            size: 1000,
            ratio: u64::MAX,
        };
        for (level, length) in (0..=11).flat_map(|level| (0..=32).map(move |it| (level, it))) {
            let (mut encoder, mut bytes) = (BrotliEncoder::new(level), Vec::new());
            let written = encoder.write_metadata(length, &mut bytes);
            written.expect("written");
            let finished = encoder.encode(b"a small body", Then::Finish, &mut bytes);
            finished.expect("encoded");
            let codings = Codings::of([&b"br"[..]]).expect("known");
            let mut decoder = Decoder::new(&codings, limits).expect("coded");
            let mut body = [0; 100];
            let step = decoder.step(&bytes, &mut body).expect("well formed");
            assert_eq!(&body[..step.written], b"a small body", "{level} {length}");
            decoder.finish().expect("complete");
        }
    }
}
