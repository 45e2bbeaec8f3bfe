use std::future::poll_fn;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming};

/// The body of a request, as its connection receives it.
pub enum ReceivedBody {
    /// A body that hyper reads.
    Http1(Incoming),
    /// A body that shares its connection with other requests.
    Streamed(Box<dyn BodySource>),
    /// No body: the client's bytes belong to a tunnel.
    None,
}

impl From<Incoming> for ReceivedBody {
    fn from(body: Incoming) -> ReceivedBody {
        ReceivedBody::Http1(body)
    }
}

impl ReceivedBody {
    /// Whether nothing of the body is left.
    pub fn is_end_stream(&self) -> bool {
        match self {
            ReceivedBody::Http1(body) => body.is_end_stream(),
            ReceivedBody::Streamed(body) => body.is_end_stream(),
            ReceivedBody::None => true,
        }
    }

    /// Length in bytes, if the client declared it.
    pub(super) fn announced(&self) -> Option<u64> {
        match self {
            ReceivedBody::Http1(body) => body.size_hint().exact(),
            ReceivedBody::Streamed(body) => body.announced(),
            ReceivedBody::None => Some(0),
        }
    }

    /// The next piece; `None` at the end. An error means that the client or the guard has ended the body.
    ///
    /// Trailers are dropped: they could shadow headers that a proxy has checked.
    pub(super) async fn next(&mut self) -> Option<Result<Bytes, ()>> {
        match self {
            ReceivedBody::Http1(body) => loop {
                match body.frame().await?.map(Frame::into_data) {
                    Ok(Ok(data)) => return Some(Ok(data)),
                    Ok(Err(_trailers)) => {}
                    Err(_) => return Some(Err(())),
                }
            },
            ReceivedBody::Streamed(body) => poll_fn(|cx| body.poll_piece(cx)).await,
            ReceivedBody::None => None,
        }
    }
}

/// A request body that is one of several on a connection, as the protocol of the connection sees it.
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
