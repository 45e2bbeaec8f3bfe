//! Chunked transfer coding (RFC 9112, section 7.1), read as it arrives and without a copy of
//! anything.

use std::ops::Range;

use super::byte_class::text_end;
use super::fields::{Fields, Step};
use super::framing::LENGTH_LIMIT;
use super::{HeadLimits, Refusal};

/// Most bytes of chunk extensions in one message. Nobody has a use for them, and without a bound
/// they make a client send and a server read for ever (CVE-2024-21647); hyper has the same figure.
pub(crate) const CHUNK_EXTENSIONS_LIMIT: usize = 16 * 1024;

/// Most digits of a chunk's size.
const SIZE_DIGITS_LIMIT: u8 = 16;

/// What the next byte belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Size,
    Extension,
    SizeEnd,
    Data,
    DataEnd,
    DataLineFeed,
    Trailers,
    Behind,
}

/// What a piece of a chunked body holds; indices count from the piece's first byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Bytes of the content, at least one.
    Data(Range<usize>),
    /// The index behind the body's last byte: what follows belongs to the next message.
    End(usize),
}

/// Finds the data and the end of one chunked body that arrives in pieces.
pub(crate) struct Chunked {
    place: Place,
    digits: u8,
    /// Bytes of this chunk that are still to come.
    size: u64,
    extension_bytes: usize,
    trailers: Fields,
    trailer_bytes_left: usize,
    max_trailers: usize,
}

impl Chunked {
    /// A body at its first byte; its trailers have the limits of a head.
    pub(crate) fn new(limits: &HeadLimits) -> Self {
        Self {
            place: Place::Size,
            digits: 0,
            size: 0,
            extension_bytes: 0,
            trailers: Fields::new(),
            trailer_bytes_left: limits.max_header_bytes,
            max_trailers: limits.max_headers,
        }
    }

    /// What the next piece holds. Drain it: a piece that is dropped half read leaves the parser in
    /// the middle of it. A refusal is the last item, and the body is lost with it.
    pub(crate) fn events<'a>(&'a mut self, piece: &'a [u8]) -> Events<'a> {
        Events {
            body: self,
            piece,
            at: 0,
        }
    }

    /// Reads one run of bytes of the same place and moves `at` behind it.
    fn step(&mut self, piece: &[u8], at: &mut usize) -> Result<Option<Event>, Refusal> {
        let byte = piece[*at];
        match self.place {
            Place::Data => return Ok(Some(self.data(piece, at))),
            Place::Trailers => return self.trailers(piece, at),
            Place::Extension => self.extension(piece, at)?,
            Place::Size => self.size(byte)?,
            Place::SizeEnd if byte == b'\n' => self.start_data(),
            Place::DataEnd if byte == b'\r' => self.place = Place::DataLineFeed,
            Place::DataLineFeed if byte == b'\n' => self.place = Place::Size,
            Place::SizeEnd => return Err(Refusal::BareLineEnd),
            Place::DataEnd | Place::DataLineFeed => return Err(Refusal::ChunkEnd),
            Place::Behind => return Ok(None),
        }
        *at += usize::from(*at < piece.len());
        Ok(None)
    }

    fn size(&mut self, byte: u8) -> Result<(), Refusal> {
        if let Some(digit) = char::from(byte).to_digit(16) {
            self.digits += 1;
            if self.digits > SIZE_DIGITS_LIMIT {
                return Err(Refusal::ChunkSize);
            }
            self.size = self.size << 4 | u64::from(digit);
            return Ok(());
        }
        if self.digits == 0 || self.size > LENGTH_LIMIT {
            return Err(Refusal::ChunkSize);
        }
        match byte {
            b'\r' => self.place = Place::SizeEnd,
            b';' => {
                self.extension_bytes += 1;
                self.place = Place::Extension;
            }
            b'\n' => return Err(Refusal::BareLineEnd),
            _ => return Err(Refusal::ChunkSize),
        }
        Ok(())
    }

    fn extension(&mut self, piece: &[u8], at: &mut usize) -> Result<(), Refusal> {
        let start = *at;
        *at = text_end(piece, start);
        self.extension_bytes += *at - start;
        if self.extension_bytes > CHUNK_EXTENSIONS_LIMIT {
            return Err(Refusal::ChunkExtensionsTooLarge);
        }
        match piece.get(*at) {
            None => Ok(()),
            Some(b'\r') => {
                self.place = Place::SizeEnd;
                Ok(())
            }
            Some(b'\n') => Err(Refusal::BareLineEnd),
            Some(_) => Err(Refusal::ChunkExtension),
        }
    }

    fn start_data(&mut self) {
        self.digits = 0;
        self.place = if self.size == 0 {
            Place::Trailers
        } else {
            Place::Data
        };
    }

    fn data(&mut self, piece: &[u8], at: &mut usize) -> Event {
        let start = *at;
        let available = (piece.len() - start) as u64;
        let taken = self.size.min(available);
        self.size -= taken;
        // No more than `available`, which came from a usize.
        *at += usize::try_from(taken).unwrap_or(piece.len() - start);
        if self.size == 0 {
            self.place = Place::DataEnd;
        }
        Event::Data(start..*at)
    }

    fn trailers(&mut self, piece: &[u8], at: &mut usize) -> Result<Option<Event>, Refusal> {
        let start = *at;
        let window = &piece[..piece
            .len()
            .min(start.saturating_add(self.trailer_bytes_left))];
        loop {
            match self.trailers.step(window, at, self.max_trailers)? {
                Step::Colon | Step::Line => {}
                Step::More => break,
                Step::End => {
                    self.place = Place::Behind;
                    return Ok(Some(Event::End(*at)));
                }
            }
        }
        self.trailer_bytes_left -= *at - start;
        if self.trailer_bytes_left == 0 {
            return Err(Refusal::HeaderTooLarge);
        }
        Ok(None)
    }
}

/// The events of one piece, in order.
pub(crate) struct Events<'a> {
    body: &'a mut Chunked,
    piece: &'a [u8],
    at: usize,
}

impl Iterator for Events<'_> {
    type Item = Result<Event, Refusal>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.piece.len() && self.body.place != Place::Behind {
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
