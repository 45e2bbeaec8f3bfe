//! HTTP/2 (RFC 9113). [`FrameGuard`] checks the frames of a client and notices floods of them,
//! [`DecodedHead`] checks requests, and [`SentResets`] finds the streams that h2 has reset. They
//! need no socket, no clock, and no async runtime. The code that needs these is in `part`, which
//! makes HTTP/2 a part of the edge.
//!
//! ```
//! use carat_http2::{FrameFault, FrameGuard, PREFACE};
//!
//! let mut guard = FrameGuard::new(0);
//! assert_eq!(guard.pass(&mut PREFACE.to_vec(), 0), Ok(PREFACE.len()));
//! ```

#![forbid(unsafe_code)]

mod guard;
#[cfg(feature = "part")]
mod part;

#[cfg(any(test, feature = "fixture"))]
pub use guard::huffman_code;
pub use guard::{DecodedFields, DecodedHead, FrameFault, FrameGuard, PREFACE, SentResets};
#[cfg(feature = "part")]
pub use part::{offered_protocols, part};
