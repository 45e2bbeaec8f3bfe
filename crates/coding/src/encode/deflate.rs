use std::fmt;

use flate2::{Compress, Compression, FlushCompress, Status};

use super::Then;

/// The largest window: 32 KiB (RFC 1951).
const WINDOW_BITS: u8 = 15;

/// By how much the output grows at least; zlib wants room for more than the 6 bytes of a flush.
const ROOM: usize = 16 * 1024;

/// gzip, or zlib's format.
pub(super) struct Deflate(Compress);

impl Deflate {
    pub(super) fn gzip(level: u32) -> Deflate {
        Deflate(Compress::new_gzip(Compression::new(level), WINDOW_BITS))
    }

    pub(super) fn zlib(level: u32) -> Deflate {
        Deflate(Compress::new(Compression::new(level), true))
    }

    pub(super) fn encode(
        &mut self,
        piece: &[u8],
        then: Then,
        output: &mut Vec<u8>,
    ) -> Result<(), String> {
        let flush = match then {
            Then::More => FlushCompress::None,
            Then::Flush => FlushCompress::Sync,
            Then::Finish => FlushCompress::Finish,
        };
        let before = self.0.total_in();
        loop {
            output.reserve(ROOM);
            let read = usize::try_from(self.0.total_in() - before).expect("a part of the piece");
            let status = self.0.compress_vec(&piece[read..], output, flush);
            let status = status.map_err(|error| error.to_string())?;
            let has_room = output.len() < output.capacity();
            if status == Status::StreamEnd || (has_room && then != Then::Finish) {
                return Ok(());
            }
        }
    }

    pub(super) fn reset(&mut self) {
        self.0.reset();
    }
}

impl fmt::Debug for Deflate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Deflate").field(&self.0.total_in()).finish()
    }
}
