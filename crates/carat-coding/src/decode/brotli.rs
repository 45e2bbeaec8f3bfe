use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use brotli::enc::StandardAlloc;
use brotli::{Allocator, BrotliDecompressStream, BrotliResult, BrotliState, SliceWrapper};

use super::{DecodeError, DecodeStep};

/// The decoder of br. The stream chooses the window, up to the 16 MiB of RFC 7932. Streams with the
/// extension for larger windows are refused.
pub(super) struct BrotliDecoder {
    state: Box<BrotliState<CountingAlloc, CountingAlloc, CountingAlloc>>,
    allocated: CountingAlloc,
    complete: bool,
}

impl BrotliDecoder {
    pub(super) fn new() -> BrotliDecoder {
        let allocated = CountingAlloc::default();
        let alloc = || allocated.clone();
        BrotliDecoder {
            state: Box::new(BrotliState::new_strict(alloc(), alloc(), alloc())),
            allocated,
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

    /// Bytes of memory that the decoder has allocated.
    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.state) + self.allocated.0.load(Ordering::Relaxed)
    }

    /// Whether the input may end here.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }
}

/// Counts what the decoder allocates.
#[derive(Clone, Default)]
struct CountingAlloc(Arc<AtomicUsize>);

impl<T: Clone + Default> Allocator<T> for CountingAlloc {
    type AllocatedMemory = <StandardAlloc as Allocator<T>>::AllocatedMemory;

    fn alloc_cell(&mut self, len: usize) -> Self::AllocatedMemory {
        self.0.fetch_add(len * size_of::<T>(), Ordering::Relaxed);
        StandardAlloc::default().alloc_cell(len)
    }

    fn free_cell(&mut self, memory: Self::AllocatedMemory) {
        let bytes = size_of_val(memory.slice());
        self.0.fetch_sub(bytes, Ordering::Relaxed);
        StandardAlloc::default().free_cell(memory);
    }
}
