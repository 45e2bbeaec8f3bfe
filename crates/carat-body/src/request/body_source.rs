use std::task::{Context, Poll};

use bytes::Bytes;

/// A request body that arrives beside others on one connection, as far as its protocol knows it.
pub trait BodySource {
    /// Whether nothing of the body is left.
    fn is_end_stream(&self) -> bool;

    /// Length in bytes, if the client declared it.
    fn announced(&self) -> Option<u64>;

    /// Whether the client has sent the complete body.
    fn has_arrived(&mut self) -> bool;

    /// The next piece; `None` at the end. An error means that the client or the server has ended the body. The client
    /// may be asked for more once the piece before is used.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, ()>>>;
}
