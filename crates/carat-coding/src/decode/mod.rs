//! Decoders: bytes in, bytes out. They keep only the window that the coding requires.

mod brotli;
mod coding_decoder;
mod decode_step;
mod decoder;
mod error;
mod inflate;
mod limits;
mod outer_coding;
mod zstd;

pub use decode_step::DecodeStep;
pub use decoder::Decoder;
pub use error::DecodeError;
pub use inflate::GZIP_MEMBERS_LIMIT;
pub use limits::{DecodeLimits, RATIO_GRACE};
pub use zstd::ZSTD_WINDOW_LIMIT;
