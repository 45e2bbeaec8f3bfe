//! Bodies of responses: read, cut to the requested ranges, and compressed.

mod client_body;
mod compressible;
mod dechunk;
mod encode;
mod encoded;
mod encoders;
mod file;
mod file_pages;
mod partial;
mod parts;
mod plain;

pub use client_body::ClientBody;
pub use encode::ResponseEncoding;
pub use encoders::Encoders;
pub use file::read_file;
pub use partial::RangeRequest;
