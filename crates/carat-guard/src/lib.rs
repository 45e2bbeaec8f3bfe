//! Checks the raw bytes of an HTTP/1.1 connection before hyper parses them, and finds where each
//! message ends.
//!
//! hyper 1 accepts bare LF line ends, a missing or repeated Host, and Content-Length together with
//! Transfer-Encoding. Each of these lets two servers read two different requests from the same
//! bytes. The guard applies the stricter rules of RFC 9112. It does no I/O, copies nothing and
//! allocates nothing.
//!
//! ```
//! use carat_guard::{Guard, HeaderLimits, MessagePosition};
//!
//! let limits = HeaderLimits { max_header_bytes: 65_536, max_headers: 100, max_uri: 16_384 };
//! let mut guard = Guard::new(limits);
//! // Passes one message at a time.
//! assert_eq!(guard.pass(b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /"), Ok(27));
//! // Incomplete headers: offer the same bytes again, with more after them.
//! assert_eq!(guard.pass(b"GET /"), Ok(0));
//! assert_eq!(guard.position(), MessagePosition::InHeaders);
//! ```

#![forbid(unsafe_code)]

mod authority;
mod byte_class;
mod error;
mod header_limits;
mod http1;
#[cfg(test)]
mod tests;

pub use authority::is_authority;
pub use byte_class::ByteClass;
pub use error::GuardError;
pub use header_limits::HeaderLimits;
pub use http1::Guard;
pub use http1::MessagePosition;
pub use http1::{Chunked, ChunkedEvent, ChunkedEvents, METHOD_LIMIT, parse_length};
