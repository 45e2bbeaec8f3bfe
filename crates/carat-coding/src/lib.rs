//! Content codings (RFC 9110, 8.4): negotiation, decoders and encoders, which do no I/O. The [`part()`] compresses responses,
//! and decodes requests.

#![forbid(unsafe_code)]

mod coding;
mod codings;
mod decode;
mod encode;
mod negotiate;
#[cfg(feature = "part")]
mod part;

pub use coding::Coding;
pub use codings::{CODINGS_LIMIT, Codings, Unsupported};
pub use decode::{
    DecodeError, DecodeLimits, DecodeStep, Decoder, GZIP_MEMBERS_LIMIT, RATIO_GRACE,
    ZSTD_WINDOW_LIMIT,
};
pub use encode::{EncodeError, Encoder, EncoderPool, IDLE_LIMIT, Lease, Levels, Then};
pub use negotiate::{AcceptedCodings, negotiate};
#[cfg(feature = "part")]
pub use part::part;
