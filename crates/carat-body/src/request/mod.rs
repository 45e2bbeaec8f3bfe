//! Bodies of requests: received, decoded, taken apart, and kept in memory or in a file.

mod arriving;
mod bodies;
mod decode;
mod expectation;
mod http2_body;
mod receive;
mod received_body;
mod sinks;
mod transfer;
mod upload;

pub use bodies::RequestBodies;
pub use expectation::Expectation;
pub use http2_body::{Http2Body, UPLOAD_WINDOW};
pub use receive::{receive, receive_empty};
pub use received_body::ReceivedBody;
pub use upload::UploadProgress;
