use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

use super::{DecodeError, DecodeStep};

/// The largest window of a zstd stream, 8 MiB: RFC 9659 requires decoders to support it and encoders to
/// stay within it.
pub const ZSTD_WINDOW_LIMIT: usize = 1 << WINDOW_LOG;
/// The largest window as an exponent of 2, as the library takes it.
const WINDOW_LOG: u32 = 23;

/// The decoder of zstd, which takes any number of frames (RFC 8878 3).
pub(super) struct ZstdDecoder {
    context: DCtx<'static>,
    /// Whether the last frame is complete.
    complete: bool,
    /// Whether the last step may have left output that did not fit.
    pending: bool,
}

impl ZstdDecoder {
    pub(super) fn new() -> ZstdDecoder {
        let mut context = DCtx::create();
        let limited = context.set_parameter(DParameter::WindowLogMax(WINDOW_LOG));
        limited.expect("a new context takes a window between 1 KiB and 2 GiB");
        ZstdDecoder {
            context,
            complete: false,
            pending: false,
        }
    }

    pub(super) fn step(
        &mut self,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<DecodeStep, DecodeError> {
        // A step without progress is left out: the library reports an error after a few of them.
        if input.is_empty() && !self.pending {
            return Ok(DecodeStep::default());
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
        Ok(DecodeStep {
            read,
            written,
            more,
        })
    }

    /// Bytes of memory that the decoder has allocated.
    pub(super) fn memory(&self) -> usize {
        self.context.sizeof()
    }

    /// Whether the input may end here.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }
}

/// The error for a code of the library, which returns it negated.
fn error(code: usize) -> DecodeError {
    const WINDOW: usize = ZSTD_ErrorCode::ZSTD_error_frameParameter_windowTooLarge as usize;
    if code.wrapping_neg() == WINDOW {
        DecodeError::WindowTooLarge
    } else {
        DecodeError::Corrupt
    }
}
