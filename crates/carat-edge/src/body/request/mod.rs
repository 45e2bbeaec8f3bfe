//! Bodies of requests: received, decoded, taken apart, and kept in memory or in a file.

mod arriving;
mod bodies;
mod buffered;
mod decode;
mod decoded_piece;
mod form;
mod handover;
mod receive;
mod sink;
mod spooler;
mod transfer;
mod upload;

pub(crate) use bodies::RequestBodies;
pub(crate) use receive::{receive, receive_empty};
pub(crate) use upload::UploadProgress;
