//! Bodies of responses: read, cut to the requested ranges, and compressed.

mod compressible;
mod dechunk;
mod encode;
mod encoded;
mod encoders;
mod file;
mod outgoing;
mod partial;
mod parts;
mod plain;
mod range;

pub(crate) use encode::ResponseEncoding;
pub(crate) use encoders::{Encoders, encoding_threads};
pub(crate) use outgoing::OutgoingBody;
pub(crate) use partial::RangeRequest;
