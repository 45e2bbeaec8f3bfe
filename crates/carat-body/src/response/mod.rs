//! Bodies of responses: read, cut to the requested ranges, and transformed.

mod client_body;
mod dechunk;
mod file;
mod file_pages;
mod partial;
mod parts;
mod plain;

pub use client_body::{BodyTransform, ClientBody};
pub use file::read_file;
pub use partial::RangeRequest;
pub use plain::{FullBody, PlainBody};
