//! Decoders: bytes in, bytes out, nothing kept but the window that the coding itself asks for.

mod brotli;
mod decoder;
mod error;
mod inflate;
mod limits;
mod outer;
mod stage;
mod step;
mod zstd;

pub use decoder::Decoder;
pub use error::DecodeError;
pub use inflate::GZIP_MEMBERS_LIMIT;
pub use limits::{DecodeLimits, RATIO_GRACE};
pub use step::Step;
pub use zstd::ZSTD_WINDOW_LIMIT;
