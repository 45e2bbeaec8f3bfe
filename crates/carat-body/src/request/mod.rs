//! Bodies of requests: received, transformed, and kept in memory or in a file.

mod arriving;
mod bodies;
mod receive;
mod received_body;
mod sinks;
mod transfer;
mod transform;
mod upload;

pub use arriving::ArrivingBody;
pub use bodies::RequestBodies;
pub use receive::RequestReceiver;
pub use received_body::{BodySource, ReceivedBody};
pub use sinks::{
    BodyTask, BufferedBody, DecodedPiece, PIECE_LIMIT, PartSink, RequestSink, Spooler,
};
pub use transform::{BodyDecoder, RequestTransform};
pub use upload::UploadProgress;
