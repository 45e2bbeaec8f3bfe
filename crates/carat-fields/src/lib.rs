//! Parsers of the header fields that the edge acts on, and of what proxies say: functions of bytes and numbers, without I/O.
//!
//! ```
//! use carat_fields::RequestedRanges;
//!
//! let ranges = RequestedRanges::of(b"bytes=0-9, -5", 1000);
//! assert_eq!(ranges, RequestedRanges::Parts(vec![0..10, 995..1000]));
//! ```

#![forbid(unsafe_code)]

mod accept;
mod forwarded;
mod forwarded_elements;
mod list;
pub mod proxy_protocol;
mod ranges;
mod trusted_proxies;

pub use accept::Accept;
pub use forwarded::ForwardedRequest;
pub use list::{FULL_WEIGHT, Weight, members, weight};
pub use ranges::{RANGES_LIMIT, RequestedRanges};
pub use trusted_proxies::{Network, TrustedProxies};
