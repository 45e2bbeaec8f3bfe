use std::io;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite};

use crate::sockets::ClientStream;

/// The client's side of a tunnel: a connection, or one stream of a connection with several.
pub trait TunnelClient: AsyncRead + AsyncWrite + Unpin {
    /// Ready when the client has given up. A connection finds out when bytes move.
    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()>;
    /// Ready when there is something to read, or the client is gone.
    fn poll_readable(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
    /// The bytes that the client's buffers take, or may take while nothing is read.
    fn held_bytes(&mut self, is_held_back: bool) -> usize;
}

impl TunnelClient for ClientStream {
    fn poll_gone(&mut self, _cx: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }

    fn poll_readable(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ClientStream::poll_readable(self, cx)
    }

    fn held_bytes(&mut self, _is_held_back: bool) -> usize {
        ClientStream::held_bytes(self)
    }
}
