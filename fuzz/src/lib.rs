//! What the fuzz targets share: how an input is read, and how its bytes are cut into pieces.
//!
//! ```
//! use carat_fuzz::Input;
//!
//! let input = Input::read(b"a1-some bytes").expect("three bytes at least");
//! assert_eq!(input.bytes, b"some bytes");
//! assert_eq!(input.pieces().collect::<Vec<_>>().concat(), input.bytes);
//! ```

mod chunked_body;
mod frames;
mod input;
mod message;
mod pieces;

pub use chunked_body::ChunkedBody;
pub use frames::pass_frames;
pub use input::Input;
pub use message::{Body, Message};
pub use pieces::Pieces;
