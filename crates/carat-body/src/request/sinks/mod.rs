//! Where the bytes of a body go: into memory, a file, the parts of a form, or to the application at once.

mod buffered;
mod decoded_piece;
mod form;
mod handover;
mod sink;
mod spooler;

pub(crate) use decoded_piece::{DecodedPiece, PIECE_LIMIT};
pub(crate) use handover::Handover;
pub(crate) use sink::RequestSink;
