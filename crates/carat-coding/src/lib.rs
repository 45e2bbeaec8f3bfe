//! Content codings (RFC 9110, 8.4): negotiation, decoders, and encoders, which do no I/O. The
//! [`part()`] compresses responses, and decodes requests.

#![forbid(unsafe_code)]

mod coding;
mod codings;
mod negotiate;
#[cfg(feature = "part")]
mod part;

mod decode {
    //! Decoders: bytes in, bytes out. They keep only the window that the coding requires.

    mod brotli;
    mod coding_decoder;
    mod decode_step;
    mod decoder;
    mod inflate;
    mod limits;
    mod outer_coding;
    mod zstd;

    pub use decode_step::{DecodeError, DecodeStep};
    pub use decoder::Decoder;
    pub use inflate::GZIP_MEMBERS_LIMIT;
    pub use limits::{DecodeLimits, RATIO_GRACE};
    pub use zstd::ZSTD_WINDOW_LIMIT;
}

mod encode {
    //! Encoders, which are reset and used again for further bodies.

    mod brotli;
    mod deflate;
    mod encoder;
    mod jitter;
    mod pool;
    mod then;
    mod zstd;

    pub use encoder::{EncodeError, Encoder, Levels};
    pub use jitter::JITTER_BYTES;
    pub use pool::{EncoderPool, IDLE_LIMIT, Lease};
    pub use then::Then;
}

pub use coding::Coding;
pub use codings::{CODINGS_LIMIT, Codings, Unsupported};
pub use decode::{
    DecodeError, DecodeLimits, DecodeStep, Decoder, GZIP_MEMBERS_LIMIT, RATIO_GRACE,
    ZSTD_WINDOW_LIMIT,
};
pub use encode::{
    EncodeError, Encoder, EncoderPool, IDLE_LIMIT, JITTER_BYTES, Lease, Levels, Then,
};
pub use negotiate::{AcceptedCodings, negotiate};
#[cfg(feature = "part")]
pub use part::part;
