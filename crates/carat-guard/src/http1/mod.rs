//! Finds where each message of HTTP/1.1 ends, and what is wrong with it.

mod chunk_extension;
mod chunked;
mod fields;
mod framing;
mod guard;
mod head;
mod request_line;

#[cfg(test)]
pub(crate) use chunked::CHUNK_EXTENSIONS_LIMIT;
pub use chunked::{Chunked, ChunkedEvent, ChunkedEvents};
#[cfg(test)]
pub(crate) use framing::LENGTH_LIMIT;
pub use framing::parse_length;
pub use guard::{Guard, MessagePosition};
pub use request_line::METHOD_LIMIT;
