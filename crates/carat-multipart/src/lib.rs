//! Takes the files out of `multipart/form-data` (RFC 7578) while it arrives.
//!
//! What remains is a small *skeleton*: the same body with its delimiters, headers and fields, but with
//! empty files. A parser finds the same form in the skeleton, and requests the content of the files in
//! their order. A part is taken out only if every known parser treats it as a file. From the first
//! ambiguous part on, everything stays in the skeleton unchanged.
//!
//! The splitter does no I/O. The [`part()`] stores what it takes out.
//!
//! ```
//! use carat_multipart::{FormEvent, FormLimits, Splitter, boundary_of};
//!
//! let boundary = boundary_of(b"multipart/form-data; boundary=xyz").expect("a form");
//! let mut splitter = Splitter::new(boundary, FormLimits::default());
//! let mut arriving: &[u8] = b"--xyz\r\nContent-Disposition: form-data; name=a; filename=b\r\n\r\n\
//!     12345\r\n--xyz--\r\n";
//! let (mut skeleton, mut file) = (Vec::new(), Vec::new());
//! while let Some(event) = splitter.next(&mut arriving)? {
//!     match event {
//!         FormEvent::Keep(bytes) => skeleton.extend_from_slice(bytes),
//!         FormEvent::File(bytes) => file.extend_from_slice(bytes),
//!         FormEvent::FileEnd => assert_eq!(file, b"12345"),
//!     }
//! }
//! assert!(skeleton.ends_with(b"filename=b\r\n\r\n\r\n--xyz--\r\n"));
//! # Ok::<(), carat_multipart::Exceeded>(())
//! ```

#![forbid(unsafe_code)]

mod content_type;
mod delimiter;
mod disposition;
mod form_part;
mod limits;
#[cfg(feature = "part")]
mod part;
mod splitter;

pub use content_type::boundary_of;
pub use limits::{Exceeded, FormLimits};
#[cfg(feature = "part")]
pub use part::part;
pub use splitter::{FormEvent, Splitter};
