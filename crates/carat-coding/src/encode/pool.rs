use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::encoder::{Encoder, Levels};
use crate::Coding;

/// The most idle encoders; further ones are freed.
pub const IDLE_LIMIT: usize = 4;

/// A pool of encoders.
pub struct EncoderPool {
    levels: Levels,
    /// Ordered by last use, the most recent last.
    idle: Mutex<Vec<Encoder>>,
}

/// An encoder for one body. Dropping it returns the encoder, whether the body is complete or not.
pub struct Lease {
    /// `None` only during `drop`.
    encoder: Option<Encoder>,
    pool: Arc<EncoderPool>,
}

impl EncoderPool {
    /// Creates an empty pool of encoders with these levels.
    pub fn new(levels: Levels) -> Arc<EncoderPool> {
        Arc::new(EncoderPool {
            levels,
            idle: Mutex::new(Vec::new()),
        })
    }

    /// A new or reset encoder.
    #[must_use]
    pub fn lease(self: &Arc<Self>, coding: Coding) -> Lease {
        let mut idle = self.idle();
        let found = idle.iter().rposition(|encoder| encoder.coding == coding);
        let found = found.map(|index| idle.remove(index));
        drop(idle);
        Lease {
            encoder: Some(found.unwrap_or_else(|| Encoder::new(coding, self.levels))),
            pool: Arc::clone(self),
        }
    }

    fn give_back(&self, mut encoder: Encoder) {
        encoder.reset();
        let mut idle = self.idle();
        idle.push(encoder);
        if idle.len() > IDLE_LIMIT {
            // Frees the encoder that was used least recently. To free the returned one instead
            // would fill the pool with encoders that nobody uses.
            drop(idle.remove(0));
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Encoder>> {
        // No code panics while it holds the lock, so the list is valid.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for Lease {
    type Target = Encoder;

    fn deref(&self) -> &Encoder {
        self.encoder.as_ref().expect("held until it is dropped")
    }
}

impl DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut Encoder {
        self.encoder.as_mut().expect("held until it is dropped")
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(encoder) = self.encoder.take() {
            self.pool.give_back(encoder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Then;

    fn pool() -> Arc<EncoderPool> {
        EncoderPool::new(Levels {
            gzip: 6,
            brotli: 4,
            zstd: 3,
        })
    }

    fn idle(pool: &EncoderPool) -> Vec<Coding> {
        pool.idle().iter().map(|it| it.coding).collect()
    }

    #[test]
    fn an_encoder_that_was_given_back_is_used_again() {
        let pool = pool();
        drop(pool.lease(Coding::Gzip));
        drop(pool.lease(Coding::Zstd));
        assert_eq!(idle(&pool), [Coding::Gzip, Coding::Zstd]);
        let lease = pool.lease(Coding::Gzip);
        let found = (lease.coding, idle(&pool));
        assert_eq!(found, (Coding::Gzip, vec![Coding::Zstd]));
        drop(lease);
        assert_eq!(idle(&pool), [Coding::Zstd, Coding::Gzip]);
    }

    #[test]
    fn what_was_used_longest_ago_is_freed_first() {
        let pool = pool();
        let leases: Vec<_> = std::iter::repeat_with(|| pool.lease(Coding::Zstd))
            .take(IDLE_LIMIT + 2)
            .collect();
        drop(leases);
        assert_eq!(idle(&pool), [Coding::Zstd; IDLE_LIMIT]);
        drop(pool.lease(Coding::Gzip));
        assert_eq!(idle(&pool).len(), IDLE_LIMIT);
        assert_eq!(idle(&pool).last(), Some(&Coding::Gzip));
    }

    #[test]
    fn a_body_that_was_broken_off_leaves_nothing_to_the_next() {
        for coding in [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd] {
            let pool = pool();
            let fresh = pool
                .lease(coding)
                .encode(&["hello"], Then::Finish)
                .map(<[u8]>::to_vec);
            let mut lease = pool.lease(coding);
            lease.encode(&["broken off"], Then::More).expect("encoded");
            lease
                .encode(&[" in the middle"], Then::Flush)
                .expect("encoded");
            drop(lease);
            let again = pool
                .lease(coding)
                .encode(&["hello"], Then::Finish)
                .map(<[u8]>::to_vec);
            assert_eq!(again, fresh);
        }
    }
}
