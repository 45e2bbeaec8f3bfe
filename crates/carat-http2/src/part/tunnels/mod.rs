//! Streams that an application has taken over.

mod raw_head;
mod tunnel;
mod tunnel_stream;

pub(crate) use tunnel::{TakenStream, serve_taken};
