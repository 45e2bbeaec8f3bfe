//! Content codings (RFC 9110, 8.4): which one a client takes, and their decoders and encoders.
//!
//! This crate does no I/O and knows neither connections nor Ruby.

#![forbid(unsafe_code)]

mod coding;

pub use coding::Coding;
