use std::io;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{Coding, EncoderPool, Lease, Levels, Then};
use carat_body::response::FullBody;
use carat_exchange::{MemoryReservation, Refusal};
use carat_files::CODING_THREADS;
use carat_log::Log;
use carat_settings::Settings;

/// The most responses that are encoded piece by piece at a time; further ones are sent plain. Each holds an encoder as
/// long as its client reads: 0.4 MB (gzip) to 2.2 MB (br).
const STREAMS_LIMIT: usize = 64;

/// The encoders of all connections.
pub(super) struct Encoders {
    /// The least length of a body that is encoded.
    pub(super) min_bytes: u64,
    log: Rc<Log>,
    pool: Arc<EncoderPool>,
    streams: Arc<Semaphore>,
}

/// An encoder for one body. It gets a thread whenever it has something to do, in turn with others.
pub(super) struct StreamEncoder {
    lease: Lease,
    _stream: OwnedSemaphorePermit,
}

impl Encoders {
    /// The encoders; `None` when responses are not compressed.
    pub(super) fn new(settings: &Settings, log: &Rc<Log>) -> Option<Encoders> {
        let levels = Levels {
            gzip: settings.parts.codings.gzip_level,
            brotli: settings.parts.codings.brotli_level,
            zstd: settings.parts.codings.zstd_level,
        };
        settings.parts.codings.compress.then(|| Encoders {
            min_bytes: settings.parts.codings.compress_min_bytes,
            log: Rc::clone(log),
            pool: EncoderPool::new(levels),
            streams: Arc::new(Semaphore::new(STREAMS_LIMIT)),
        })
    }

    /// Encodes a complete body.
    pub(super) async fn full(&self, coding: Coding, body: FullBody) -> Result<Bytes, Refusal> {
        let pool = Arc::clone(&self.pool);
        let encoded = async move {
            let plain = body.read().await?;
            let encode = move || encode(&mut pool.lease(coding), &[plain], Then::Finish);
            CODING_THREADS.try_run(encode).await
        };
        encoded.await.map_err(|error| {
            let log = &self.log;
            log.error("cannot encode a response", &[("cause", &error)]);
            Refusal::InvalidResponse
        })
    }

    /// An encoder for a body that arrives in pieces, or `None` when too many are in use or memory is short.
    pub(super) fn stream(
        &self,
        coding: Coding,
        memory: &mut MemoryReservation,
    ) -> Option<StreamEncoder> {
        let stream = Arc::clone(&self.streams).try_acquire_owned().ok()?;
        if !memory.try_grow(encoder_memory(coding)) {
            return None;
        }
        Some(StreamEncoder {
            lease: self.pool.lease(coding),
            _stream: stream,
        })
    }
}

impl StreamEncoder {
    /// Encodes pieces and returns the encoder with its output. When the future is dropped, the
    /// encoder returns to the pool after the pieces that it encodes now.
    pub(super) async fn encode(
        mut self: Box<Self>,
        pieces: Vec<Bytes>,
        then: Then,
    ) -> io::Result<(Box<Self>, Bytes)> {
        CODING_THREADS
            .try_run(move || {
                let bytes = encode(&mut self.lease, &pieces, then)?;
                Ok((self, bytes))
            })
            .await
    }
}

/// The most memory in bytes that an encoder takes, with the pieces that it waits for.
fn encoder_memory(coding: Coding) -> usize {
    match coding {
        Coding::Gzip | Coding::Deflate => 1 << 19,
        Coding::Brotli => 5 << 19,
        Coding::Zstd => 7 << 19,
    }
}

fn encode(lease: &mut Lease, pieces: &[Bytes], then: Then) -> io::Result<Bytes> {
    let encoded = lease.encode(pieces, then).map_err(io::Error::other)?;
    Ok(Bytes::copy_from_slice(encoded))
}
