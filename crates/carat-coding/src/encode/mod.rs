//! Encoders, which are reset and used again.

mod brotli;
mod deflate;
mod encoder;
mod levels;
mod pool;
mod zstd;

pub use encoder::{EncodeError, Encoder, Then};
pub use levels::Levels;
pub use pool::{EncoderPool, IDLE_LIMIT, Lease};
