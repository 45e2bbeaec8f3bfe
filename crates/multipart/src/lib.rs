//! Takes `multipart/form-data` (RFC 7578) apart while it arrives.
//!
//! This crate does no I/O and knows neither connections nor Ruby.

#![forbid(unsafe_code)]
