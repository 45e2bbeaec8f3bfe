//! Chunked transfer coding (RFC 9112, section 7.1), parsed as it arrives and without a copy.

use std::ops::Range;

use crate::error::GuardError;
use crate::header_limits::HeaderLimits;
use crate::http1::chunk_extension::ChunkExtension;
use crate::http1::fields::{Fields, FieldsStep};
use crate::http1::framing::LENGTH_LIMIT;

/// The most bytes of chunk extensions in one message. Nobody uses them, and without a limit a
/// client can make a server read them forever (CVE-2024-21647). hyper has the same limit.
pub(crate) const CHUNK_EXTENSIONS_LIMIT: usize = 16 * 1024;

/// The most digits of a chunk's size.
const SIZE_DIGITS_LIMIT: u8 = 16;

/// The part of a chunked body to which the next byte belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChunkedState {
    Size,
    Extension(ChunkExtension),
    SizeEnd,
    Data,
    DataEnd,
    DataLineFeed,
    Trailers,
    Done,
}

/// The content of a piece of a chunked body. Indices count from the first byte of the piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChunkedEvent {
    /// At least one byte of content.
    Data(Range<usize>),
    /// The index after the last byte of the body: the next message begins there.
    End(usize),
}

/// Finds the content and the end of one chunked body that arrives in pieces.
pub struct Chunked {
    state: ChunkedState,
    digits: u8,
    /// Bytes of this chunk that have not arrived.
    size: u64,
    extension_bytes: usize,
    trailers: Fields,
    trailer_bytes_left: usize,
    max_trailers: usize,
}

impl Chunked {
    /// Starts at the first byte of a body. Its trailers have the limits of headers.
    pub fn new(limits: &HeaderLimits) -> Self {
        Self {
            state: ChunkedState::Size,
            digits: 0,
            size: 0,
            extension_bytes: 0,
            trailers: Fields::new(),
            trailer_bytes_left: limits.max_header_bytes,
            max_trailers: limits.max_headers,
        }
    }

    /// The events of the next piece. Consume all of them: dropping the iterator early leaves the
    /// parser in the middle of the piece. An error is the last event, and ends the body.
    pub fn events<'a>(&'a mut self, piece: &'a [u8]) -> ChunkedEvents<'a> {
        ChunkedEvents {
            body: self,
            piece,
            at: 0,
        }
    }

    /// Reads one run of bytes of the same state and moves `at` past it.
    fn step(&mut self, piece: &[u8], at: &mut usize) -> Result<Option<ChunkedEvent>, GuardError> {
        let byte = piece[*at];
        match self.state {
            ChunkedState::Data => return Ok(Some(self.data(piece, at))),
            ChunkedState::Trailers => return self.trailers(piece, at),
            ChunkedState::Extension(state) => self.extension(state, byte)?,
            ChunkedState::Size => self.size(byte)?,
            ChunkedState::SizeEnd if byte == b'\n' => self.start_data(),
            ChunkedState::DataEnd if byte == b'\r' => self.state = ChunkedState::DataLineFeed,
            ChunkedState::DataLineFeed if byte == b'\n' => self.state = ChunkedState::Size,
            ChunkedState::SizeEnd => return Err(GuardError::BareLineEnd),
            ChunkedState::DataEnd | ChunkedState::DataLineFeed => return Err(GuardError::ChunkEnd),
            ChunkedState::Done => return Ok(None),
        }
        *at += usize::from(*at < piece.len());
        Ok(None)
    }

    fn size(&mut self, byte: u8) -> Result<(), GuardError> {
        if let Some(digit) = char::from(byte).to_digit(16) {
            self.digits += 1;
            if self.digits > SIZE_DIGITS_LIMIT {
                return Err(GuardError::ChunkSize);
            }
            self.size = self.size << 4 | u64::from(digit);
            return Ok(());
        }
        if self.digits == 0 || self.size > LENGTH_LIMIT {
            return Err(GuardError::ChunkSize);
        }
        match byte {
            b'\r' => self.state = ChunkedState::SizeEnd,
            b';' => {
                self.extension_bytes += 1;
                self.state = ChunkedState::Extension(ChunkExtension::NameStart);
            }
            b'\n' => return Err(GuardError::BareLineEnd),
            _ => return Err(GuardError::ChunkSize),
        }
        Ok(())
    }

    fn extension(&mut self, state: ChunkExtension, byte: u8) -> Result<(), GuardError> {
        match byte {
            b'\r' if state.may_end() => {
                self.state = ChunkedState::SizeEnd;
                return Ok(());
            }
            b'\n' => return Err(GuardError::BareLineEnd),
            _ => {}
        }
        self.extension_bytes += 1;
        if self.extension_bytes > CHUNK_EXTENSIONS_LIMIT {
            return Err(GuardError::ChunkExtensionsTooLarge);
        }
        let next = state.next(byte).ok_or(GuardError::ChunkExtension)?;
        self.state = ChunkedState::Extension(next);
        Ok(())
    }

    fn start_data(&mut self) {
        self.digits = 0;
        self.state = if self.size == 0 {
            ChunkedState::Trailers
        } else {
            ChunkedState::Data
        };
    }

    fn data(&mut self, piece: &[u8], at: &mut usize) -> ChunkedEvent {
        let start = *at;
        let available = (piece.len() - start) as u64;
        let taken = self.size.min(available);
        self.size -= taken;
        // The number fits into a usize, because it is at most `available`.
        *at += usize::try_from(taken).unwrap_or(piece.len() - start);
        if self.size == 0 {
            self.state = ChunkedState::DataEnd;
        }
        ChunkedEvent::Data(start..*at)
    }

    fn trailers(
        &mut self,
        piece: &[u8],
        at: &mut usize,
    ) -> Result<Option<ChunkedEvent>, GuardError> {
        let start = *at;
        let window = &piece[..piece
            .len()
            .min(start.saturating_add(self.trailer_bytes_left))];
        loop {
            match self.trailers.step(window, at, self.max_trailers)? {
                FieldsStep::Colon | FieldsStep::Line => {}
                FieldsStep::More => break,
                FieldsStep::End => {
                    self.state = ChunkedState::Done;
                    return Ok(Some(ChunkedEvent::End(*at)));
                }
            }
        }
        self.trailer_bytes_left -= *at - start;
        if self.trailer_bytes_left == 0 {
            return Err(GuardError::HeaderTooLarge);
        }
        Ok(None)
    }
}

/// The events of one piece, in order.
pub struct ChunkedEvents<'a> {
    body: &'a mut Chunked,
    piece: &'a [u8],
    at: usize,
}

impl Iterator for ChunkedEvents<'_> {
    type Item = Result<ChunkedEvent, GuardError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.piece.len() && self.body.state != ChunkedState::Done {
            match self.body.step(self.piece, &mut self.at) {
                Ok(None) => {}
                Ok(Some(event)) => return Some(Ok(event)),
                Err(refusal) => {
                    self.at = self.piece.len();
                    return Some(Err(refusal));
                }
            }
        }
        None
    }
}
