use brotli::enc::StandardAlloc;
use brotli::enc::encode::{
    BrotliEncoderOperation, BrotliEncoderParameter, BrotliEncoderStateStruct,
};

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
            let complete = then != Then::Finish || state.is_finished();
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
