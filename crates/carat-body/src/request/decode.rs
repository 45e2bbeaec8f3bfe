use bytes::{Buf, Bytes};
use carat_coding::{Codings, DecodeError, DecodeLimits, Decoder};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::try_join;

use super::arriving::ArrivingBody;
use crate::request::sinks::{DecodedPiece, PIECE_LIMIT, RequestSink};
use carat_exchange::{MemoryReservation, Refusal};
use carat_files::CODING_THREADS;
use carat_settings::Settings;

/// Most decoder steps for one piece: input in tiny parts may need many.
const STEPS_LIMIT: usize = 32;

/// Most pieces that are decoded before another body gets the thread.
const RUN_LIMIT: usize = 16;

/// The memory that a decoder reserves at first, in bytes: enough for a small body in any coding.
const FIRST_MEMORY: usize = 256 * 1024;

/// Pieces of one body: while some are passed on, the next is decoded.
const PIECES: usize = 8;

/// The decoder for a body with these headers, or `None` for a body without a coding. Changes the headers to describe
/// a plain body of unknown length.
pub(super) fn decoder(
    headers: &mut HeaderMap,
    settings: &Settings,
) -> Result<Option<Box<Decoder>>, Refusal> {
    if !settings.parts.codings.decode_requests {
        return Ok(None);
    }
    let lines = headers.get_all(CONTENT_ENCODING);
    let codings = Codings::of(lines.iter().map(HeaderValue::as_bytes));
    let limits = DecodeLimits {
        size: settings.parts.codings.max_decoded_body,
        ratio: settings.parts.codings.max_decode_ratio,
    };
    let decoder = Decoder::new(&codings.map_err(|_| Refusal::UnknownCoding)?, limits);
    headers.remove(CONTENT_ENCODING);
    if decoder.is_some() {
        headers.remove(CONTENT_LENGTH);
        headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
    Ok(decoder.map(Box::new))
}

/// Copies a body to `sink`, decoded on another thread than the one that serves connections.
pub(super) async fn decode(
    decoder: Box<Decoder>,
    arriving: &mut ArrivingBody,
    sink: &mut RequestSink<'_>,
) -> Result<(), Refusal> {
    let (full, filled) = mpsc::channel(PIECES);
    let (empty, emptied) = mpsc::channel(PIECES);
    for _ in 0..PIECES {
        give(&empty, DecodedPiece::default());
    }
    try_join!(
        fill(decoder, arriving, (emptied, full)),
        drain(filled, empty, sink)
    )?;
    Ok(())
}

/// Decodes the body as it arrives.
async fn fill(
    decoder: Box<Decoder>,
    arriving: &mut ArrivingBody,
    (emptied, full): (Receiver<DecodedPiece>, Sender<DecodedPiece>),
) -> Result<(), Refusal> {
    let connection = arriving.connection();
    let mut memory = MemoryReservation::of(connection.memory());
    reserve(&mut memory, FIRST_MEMORY)?;
    let mut work = DecodeTask {
        decoder,
        pieces: 0,
        memory_limit: FIRST_MEMORY,
        input: Bytes::new(),
        more: false,
        emptied,
        full,
    };
    while let Some(data) = arriving.next().await? {
        work.input = data;
        work.more = true;
        while work.more {
            let piece = work.emptied.recv().await;
            let piece = piece.expect("the other end lives as long as this one");
            let done = CODING_THREADS.run(|| work.run(piece)).await;
            // No encoder writes bytes that make a decoder panic.
            let rest = done.unwrap_or(Err(DecodeError::Corrupt));
            work = rest.map_err(Refusal::Undecodable)?;
            let missing = work.memory().saturating_sub(work.memory_limit);
            reserve(&mut memory, missing)?;
            work.memory_limit += missing;
        }
    }
    work.decoder.finish().map_err(Refusal::Undecodable)
}

/// Reserves memory for a decoder, which cannot work with less.
fn reserve(memory: &mut MemoryReservation, bytes: usize) -> Result<(), Refusal> {
    if bytes == 0 || memory.try_grow(bytes) {
        return Ok(());
    }
    memory.account().memory().note_refused(1);
    Err(Refusal::ClientMemory)
}

/// Passes on all pieces at hand together: every change of thread takes time.
async fn drain(
    mut filled: Receiver<DecodedPiece>,
    empty: Sender<DecodedPiece>,
    sink: &mut RequestSink<'_>,
) -> Result<(), Refusal> {
    while let Some(piece) = filled.recv().await {
        let mut pieces = vec![piece];
        while let Ok(piece) = filled.try_recv() {
            pieces.push(piece);
        }
        for piece in sink.take_all(pieces).await? {
            give(&empty, piece);
        }
    }
    Ok(())
}

/// Sends a piece, for which there is always room.
fn give(to: &Sender<DecodedPiece>, piece: DecodedPiece) {
    // After the end of the body, empty pieces are not received any more.
    let _ = to.try_send(piece);
}

/// A decoder that moves to a blocking thread and back.
struct DecodeTask {
    decoder: Box<Decoder>,
    input: Bytes,
    /// Whether there may be more output before more input arrives.
    more: bool,
    /// How many pieces have allocated memory.
    pieces: usize,
    /// Bytes that the decoder and its pieces may take.
    memory_limit: usize,
    emptied: Receiver<DecodedPiece>,
    full: Sender<DecodedPiece>,
}

impl DecodeTask {
    /// Fills this piece and the other empty ones: a change of thread takes about as long as decoding a piece. Stops
    /// when the decoder needs more memory than it may take: the kernel provides the pages of a window only as they
    /// are written, so little of the window is in use by then.
    fn run(mut self, piece: DecodedPiece) -> Result<DecodeTask, DecodeError> {
        let mut next = Some(piece);
        for left in (0..RUN_LIMIT).rev() {
            let Some(mut piece) = next else { break };
            self.step(&mut piece)?;
            give(&self.full, piece);
            let goes_on = self.more && left > 0 && self.memory() <= self.memory_limit;
            next = goes_on.then(|| self.emptied.try_recv().ok()).flatten();
        }
        Ok(self)
    }

    /// Bytes that the decoder and its pieces take.
    fn memory(&self) -> usize {
        self.decoder.memory() + self.pieces * PIECE_LIMIT
    }

    fn step(&mut self, piece: &mut DecodedPiece) -> Result<(), DecodeError> {
        piece.clear();
        self.pieces += usize::from(!piece.is_allocated());
        for _ in 0..STEPS_LIMIT {
            let step = self.decoder.step(&self.input, piece.room())?;
            piece.fill(step.written);
            self.input.advance(step.read);
            self.more = step.more;
            if !self.more || piece.is_full() {
                break;
            }
        }
        Ok(())
    }
}
