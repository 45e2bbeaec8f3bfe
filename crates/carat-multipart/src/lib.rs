//! Takes the files out of `multipart/form-data` (RFC 7578) while it arrives.
//!
//! What is left is a small *skeleton*: the same body with its delimiters, headers and fields, but with
//! empty files. Whoever parses the skeleton finds the same form, and asks for the content of each file
//! in the order in which it was taken out. A file is taken out only where every parser is certain to see
//! one; from the first part that leaves a doubt, everything stays in the skeleton as it came.
//!
//! This crate does no I/O and knows neither connections nor Ruby.
//!
//! ```
//! use carat_multipart::{Event, Limits, Splitter, boundary_of};
//!
//! let boundary = boundary_of(b"multipart/form-data; boundary=xyz").expect("a form");
//! let mut splitter = Splitter::new(boundary, Limits::default());
//! let mut arriving: &[u8] = b"--xyz\r\nContent-Disposition: form-data; name=a; filename=b\r\n\r\n\
//!     12345\r\n--xyz--\r\n";
//! let (mut skeleton, mut file) = (Vec::new(), Vec::new());
//! while let Some(event) = splitter.next(&mut arriving)? {
//!     match event {
//!         Event::Keep(bytes) => skeleton.extend_from_slice(bytes),
//!         Event::File(bytes) => file.extend_from_slice(bytes),
//!         Event::FileEnd => assert_eq!(file, b"12345"),
//!     }
//! }
//! assert!(skeleton.ends_with(b"filename=b\r\n\r\n\r\n--xyz--\r\n"));
//! # Ok::<(), carat_multipart::Exceeded>(())
//! ```

#![forbid(unsafe_code)]

mod content_type;
mod delimiter;
mod disposition;
mod limits;
mod part;
mod splitter;

pub use content_type::boundary_of;
pub use limits::{Exceeded, Limits};
pub use splitter::{Event, Splitter};
