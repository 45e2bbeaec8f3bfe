//! Encoders, which are reset and reused.

mod brotli;
mod deflate;
mod encoder;
mod levels;
mod pool;
mod then;
mod zstd;

pub use encoder::{EncodeError, Encoder};
pub use levels::Levels;
pub use pool::{EncoderPool, IDLE_LIMIT, Lease};
pub use then::Then;
