//! Content codings (RFC 9110, 8.4): which one a client takes, and their decoders and encoders.
//!
//! This crate does no I/O and knows neither connections nor Ruby.

#![forbid(unsafe_code)]

mod coding;
mod codings;
mod decode;
mod encode;
mod negotiate;

pub use coding::Coding;
pub use codings::{CODINGS_LIMIT, Codings, Unsupported};
pub use decode::{
    DecodeError, DecodeLimits, Decoder, GZIP_MEMBERS_LIMIT, RATIO_GRACE, Step, ZSTD_WINDOW_LIMIT,
};
pub use encode::{EncodeError, Encoder, EncoderPool, IDLE_LIMIT, Lease, Levels, Then};
pub use negotiate::negotiate;
