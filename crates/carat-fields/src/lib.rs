//! Parsers of the header fields that the edge acts on: functions of bytes and numbers, without I/O.
//!
//! ```
//! use carat_fields::RequestedRanges;
//!
//! let ranges = RequestedRanges::of(b"bytes=0-9, -5", 1000);
//! assert_eq!(ranges, RequestedRanges::Parts(vec![0..10, 995..1000]));
//! ```

#![forbid(unsafe_code)]

mod ranges;

pub use ranges::{RANGES_LIMIT, RequestedRanges};
