use bytes::{Buf, Bytes};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue, StatusCode};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::try_join;

use crate::{Codings, DecodeError, DecodeLimits, Decoder};
use carat_body::request::{
    ArrivingBody, BodyDecoder, BodyTask, DecodedPiece, PIECE_LIMIT, RequestSink, RequestTransform,
};
use carat_exchange::{Fault, MemoryReservation, PartRefusal, Refusal};
use carat_files::CODING_THREADS;

/// The most decoder steps for one piece: input in tiny parts may need many.
const STEPS_LIMIT: usize = 32;

/// The most pieces that are decoded before another body gets the thread.
const RUN_LIMIT: usize = 16;

/// The memory that a decoder reserves at first, in bytes: enough for a small body in any coding.
const FIRST_MEMORY: usize = 256 * 1024;

/// The number of pieces of one body: while some are passed on, others are filled with decoded
/// bytes.
const PIECES: usize = 8;

/// The decoders of the bodies of requests: the option `decode_requests`.
pub(super) struct Decoders {
    pub(super) limits: DecodeLimits,
}

impl RequestTransform for Decoders {
    fn decoder(&self, fields: &mut HeaderMap) -> Result<Option<Box<dyn BodyDecoder>>, Refusal> {
        let lines = fields.get_all(CONTENT_ENCODING);
        let codings = Codings::of(lines.iter().map(HeaderValue::as_bytes));
        let codings = codings.map_err(|_| UNKNOWN_CODING)?;
        let decoder = Decoder::new(&codings, self.limits);
        fields.remove(CONTENT_ENCODING);
        let Some(decoder) = decoder else {
            return Ok(None);
        };
        fields.remove(CONTENT_LENGTH);
        fields.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        Ok(Some(Box::new(decoder)))
    }
}

impl BodyDecoder for Decoder {
    fn decode<'a>(
        self: Box<Self>,
        arriving: &'a mut ArrivingBody,
        sink: &'a mut RequestSink<'_>,
    ) -> BodyTask<'a> {
        Box::pin(decode(self, arriving, sink))
    }
}

/// The refusal of a body with an unsupported content coding, or with too many codings.
const UNKNOWN_CODING: Refusal = Refusal::ByPart(&PartRefusal {
    status: StatusCode::UNSUPPORTED_MEDIA_TYPE,
    reason: "the content coding of the request body is not supported",
    fault: Fault::Client,
    retry_after: None,
});

/// The refusal of a body that does not match its content coding, or decodes to more than the limits
/// allow.
fn undecodable(error: DecodeError) -> Refusal {
    Refusal::ByPart(match error {
        DecodeError::Corrupt => const { &refusal(DecodeError::Corrupt) },
        DecodeError::Truncated => const { &refusal(DecodeError::Truncated) },
        DecodeError::WindowTooLarge => const { &refusal(DecodeError::WindowTooLarge) },
        DecodeError::TooLarge => const { &refusal(DecodeError::TooLarge) },
        DecodeError::TooDense => const { &refusal(DecodeError::TooDense) },
    })
}

const fn refusal(error: DecodeError) -> PartRefusal {
    PartRefusal {
        status: match error {
            DecodeError::Corrupt | DecodeError::Truncated => StatusCode::BAD_REQUEST,
            DecodeError::WindowTooLarge => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            DecodeError::TooLarge | DecodeError::TooDense => StatusCode::PAYLOAD_TOO_LARGE,
        },
        reason: error.reason(),
        fault: Fault::Client,
        retry_after: None,
    }
}

/// Copies a body to `sink`, decoded on another thread than the one that serves connections.
async fn decode(
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
        fill(decoder, arriving, emptied, full),
        drain(filled, empty, sink)
    )?;
    Ok(())
}

/// Decodes the body as it arrives.
async fn fill(
    decoder: Box<Decoder>,
    arriving: &mut ArrivingBody,
    emptied: Receiver<DecodedPiece>,
    full: Sender<DecodedPiece>,
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
            // A body whose decoder panics counts as corrupt: no encoder writes such bytes.
            let rest = done.unwrap_or(Err(DecodeError::Corrupt));
            work = rest.map_err(undecodable)?;
            let missing = work.memory().saturating_sub(work.memory_limit);
            reserve(&mut memory, missing)?;
            work.memory_limit += missing;
        }
    }
    work.decoder.finish().map_err(undecodable)
}

/// Reserves memory for a decoder, which cannot work with less.
fn reserve(memory: &mut MemoryReservation, bytes: usize) -> Result<(), Refusal> {
    if bytes == 0 || memory.try_grow(bytes) {
        return Ok(());
    }
    memory.account().memory().note_refused(1);
    Err(Refusal::ClientMemory)
}

/// Passes on all pieces at hand together, since every change of thread takes time.
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
