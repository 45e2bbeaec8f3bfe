use std::io;
use std::sync::Arc;
use std::thread::available_parallelism;

use bytes::Bytes;
use carat_coding::{Coding, EncoderPool, Lease, Levels, Then};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use super::plain::Whole;
use crate::settings::Settings;

/// How many answers are encoded piece by piece at once; beyond, they are sent plain. Each holds an
/// encoder for as long as its client takes to read: 0.4 MB (gzip) to 2.2 MB (br).
const STREAMS_LIMIT: usize = 64;

/// How many pieces are encoded at once, on however many processors.
const THREADS_LIMIT: usize = 8;

/// How many pieces are encoded at once on this machine.
pub(crate) fn encoding_threads() -> usize {
    available_parallelism().map_or(1, |count| count.get().min(THREADS_LIMIT))
}

/// What encoding answers takes, for all connections.
#[derive(Debug)]
pub(crate) struct Encoders {
    pool: Arc<EncoderPool>,
    threads: Arc<Semaphore>,
    streams: Arc<Semaphore>,
}

/// An encoder that has a place on a thread as often as it needs one, in turn with the others.
#[derive(Debug)]
pub(super) struct Seat {
    lease: Lease,
    threads: Arc<Semaphore>,
    _stream: OwnedSemaphorePermit,
}

impl Encoders {
    /// `None` when answers are not to be encoded.
    pub(crate) fn new(settings: &Settings) -> Option<Encoders> {
        let levels = Levels {
            gzip: settings.gzip_level,
            brotli: settings.brotli_level,
            zstd: settings.zstd_level,
        };
        settings.compress.then(|| Encoders {
            pool: EncoderPool::new(levels),
            threads: Arc::new(Semaphore::new(encoding_threads())),
            streams: Arc::new(Semaphore::new(STREAMS_LIMIT)),
        })
    }

    /// Encodes a body that is there as one piece: one turn on a thread reads it, if it is a file,
    /// and encodes it.
    pub(super) async fn whole(&self, coding: Coding, whole: Whole) -> io::Result<Bytes> {
        let pool = Arc::clone(&self.pool);
        in_turn(Arc::clone(&self.threads), move || {
            let plain = whole.read()?;
            let mut lease = pool.lease(coding);
            encode(&mut lease, &[plain], Then::Finish)
        })
        .await
    }

    /// An encoder for a body that comes piece by piece, unless too many have one.
    pub(super) fn stream(&self, coding: Coding) -> Option<Seat> {
        let stream = Arc::clone(&self.streams).try_acquire_owned().ok()?;
        Some(Seat {
            lease: self.pool.lease(coding),
            threads: Arc::clone(&self.threads),
            _stream: stream,
        })
    }
}

impl Seat {
    /// Encodes pieces; returns what has come out, and the seat. When nobody waits for them any
    /// more the encoder goes back to the pool, once it has done what it was at.
    pub(super) async fn encode(
        mut self: Box<Self>,
        pieces: Vec<Bytes>,
        then: Then,
    ) -> io::Result<(Box<Self>, Bytes)> {
        in_turn(Arc::clone(&self.threads), move || {
            let bytes = encode(&mut self.lease, &pieces, then)?;
            Ok((self, bytes))
        })
        .await
    }
}

fn encode(lease: &mut Lease, pieces: &[Bytes], then: Then) -> io::Result<Bytes> {
    let encoded = lease.encode(pieces, then).map_err(io::Error::other)?;
    Ok(Bytes::copy_from_slice(encoded))
}

/// Does work off the thread that serves the connections, when its turn has come.
async fn in_turn<T: Send + 'static>(
    threads: Arc<Semaphore>,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let turn = threads.acquire_owned().await;
    let turn = turn.expect("the semaphore is never closed");
    let done = spawn_blocking(move || {
        let done = work();
        drop(turn);
        done
    });
    done.await
        .unwrap_or_else(|error| Err(io::Error::other(error)))
}
