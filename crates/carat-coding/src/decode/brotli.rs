use std::fmt;

use brotli::enc::StandardAlloc;
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};

use super::{DecodeError, Step};

/// br. The window is the stream's, at most the 16 MiB of RFC 7932: the extension for larger ones is not
/// taken.
pub(super) struct Brotli {
    state: Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>,
    complete: bool,
}

impl Brotli {
    pub(super) fn new() -> Brotli {
        let alloc = StandardAlloc::default;
        Brotli {
            state: Box::new(BrotliState::new_strict(alloc(), alloc(), alloc())),
            complete: false,
        }
    }

    pub(super) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, DecodeError> {
        if self.complete {
            return if input.is_empty() {
                Ok(Step::default())
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
        // The decoder asks for input while it still holds output that has found no room.
        let more = left > 0 || (!self.complete && room == 0);
        Ok(Step {
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

impl fmt::Debug for Brotli {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Brotli")
            .field("complete", &self.complete)
            .finish_non_exhaustive()
    }
}
