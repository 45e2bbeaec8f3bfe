use std::fmt;

use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

use super::{DecodeError, Step};

/// The largest window of a zstd stream, 8 MiB: what RFC 9659 asks every decoder to have, and every encoder
/// to stay within.
pub const ZSTD_WINDOW_LIMIT: usize = 1 << WINDOW_LOG;
const WINDOW_LOG: u32 = 23;

/// zstd: frames, one behind the other (RFC 8878 3).
pub(super) struct Zstd {
    context: DCtx<'static>,
    /// Whether the last frame that began has ended.
    complete: bool,
    /// Whether the last step may have left output that found no room.
    pending: bool,
}

impl Zstd {
    pub(super) fn new() -> Zstd {
        let mut context = DCtx::create();
        let limited = context.set_parameter(DParameter::WindowLogMax(WINDOW_LOG));
        limited.expect("a new context takes a window between 1 KiB and 2 GiB");
        Zstd {
            context,
            complete: false,
            pending: false,
        }
    }

    pub(super) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, DecodeError> {
        // The library takes a few steps without anything to do in a row for an error of its caller.
        if input.is_empty() && !self.pending {
            return Ok(Step::default());
        }
        let mut source = InBuffer::around(input);
        let mut sink = OutBuffer::around(output);
        let hint = self
            .context
            .decompress_stream(&mut sink, &mut source)
            .map_err(error)?;
        let (read, written) = (source.pos(), sink.pos());
        self.complete = hint == 0;
        self.pending = !self.complete && written == output.len();
        let more = read < input.len() || self.pending;
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

/// An error of the library is its code, counted back from zero.
fn error(code: usize) -> DecodeError {
    const WINDOW: usize = ZSTD_ErrorCode::ZSTD_error_frameParameter_windowTooLarge as usize;
    if code.wrapping_neg() == WINDOW {
        DecodeError::WindowTooLarge
    } else {
        DecodeError::Corrupt
    }
}

impl fmt::Debug for Zstd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Zstd")
            .field("complete", &self.complete)
            .finish_non_exhaustive()
    }
}
