//! Bodies of requests: received, decoded, taken apart, and kept in memory or in a file.

mod arriving;
mod bodies;
mod buffered;
mod decode;
mod decoded_piece;
mod expectation;
mod form;
mod handover;
mod http2_body;
mod receive;
mod received_body;
mod sink;
mod spooler;
mod transfer;
mod upload;

pub(crate) use bodies::RequestBodies;
pub(crate) use expectation::Expectation;
pub(crate) use http2_body::{Http2Body, UPLOAD_WINDOW};
pub(crate) use receive::{receive, receive_empty};
pub(crate) use received_body::ReceivedBody;
pub(crate) use upload::UploadProgress;
