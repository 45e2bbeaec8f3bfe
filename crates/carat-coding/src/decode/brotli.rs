use std::fmt;

use brotli::enc::StandardAlloc;
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};

use super::{DecodeError, DecodeStep};

/// br. The stream chooses the window, up to the 16 MiB of RFC 7932; the extension for larger windows is
/// refused.
pub(super) struct BrotliDecoder {
    state: Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>,
    complete: bool,
}

impl BrotliDecoder {
    pub(super) fn new() -> BrotliDecoder {
        let alloc = StandardAlloc::default;
        BrotliDecoder {
            state: Box::new(BrotliState::new_strict(alloc(), alloc(), alloc())),
            complete: false,
        }
    }

    pub(super) fn step(
        &mut self,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<DecodeStep, DecodeError> {
        if self.complete {
            return if input.is_empty() {
                Ok(DecodeStep::default())
            } else {
                Err(DecodeError::Corrupt)
            };
        }
        let (mut left, mut read) = (input.len(), 0);
        let (mut room, mut written, mut total) = (output.len(), 0, 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut read,
            input,
            &mut room,
            &mut written,
            output,
            &mut total,
            &mut self.state,
        );
        match result {
            BrotliResult::ResultFailure => return Err(DecodeError::Corrupt),
            BrotliResult::ResultSuccess => self.complete = true,
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
        }
        // The decoder requests input even while it holds output that did not fit.
        let more = left > 0 || (!self.complete && room == 0);
        Ok(DecodeStep {
            read,
            written,
            more,
        })
    }

    /// Whether the input may end here.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }
}

impl fmt::Debug for BrotliDecoder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("BrotliDecoder")
            .field("complete", &self.complete)
            .finish_non_exhaustive()
    }
}
