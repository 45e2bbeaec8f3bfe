//! The sinks that take the bytes of a body: memory, a file, the sink of a part, or the application at once.

mod buffered;
mod decoded_piece;
mod handover;
mod part_sink;
mod sink;
mod spooler;

pub use buffered::BufferedBody;
pub use decoded_piece::{DecodedPiece, PIECE_LIMIT};
pub(crate) use handover::Handover;
pub use part_sink::{BodyTask, PartSink};
pub use sink::RequestSink;
pub use spooler::Spooler;
