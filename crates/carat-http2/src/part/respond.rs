use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Error, Reason, SendStream};
use http::header::{CONNECTION, CONTENT_LENGTH, DATE, TE, TRANSFER_ENCODING, UPGRADE};
use http::response::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use hyper::body::Body;

use super::client::Http2Client;
use super::end::Http2StreamEnd;
use super::unsent_bytes::SentPiece;
use carat_exchange::{ConnectionState, MemoryReservation};
use carat_fields::members;
use carat_http::TrackedBody;

/// Header fields that belong to a connection of HTTP/1.1 (RFC 9113, section 8.2.2).
const CONNECTION_FIELDS: [HeaderName; 6] = [
    CONNECTION,
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// Sends a response as fast as the client reads it, and ends the stream. An error means that the
/// stream is over.
pub(super) async fn respond(
    response: Response<TrackedBody>,
    is_head: bool,
    end: Http2StreamEnd,
    sender: &mut SendResponse<SentPiece>,
    client: &Http2Client,
    state: &Rc<ConnectionState>,
) -> Result<(), Error> {
    let (mut parts, mut body) = response.into_parts();
    let is_bodiless = prepare(&mut parts, &body, is_head, client);
    await_socket(&parts, body.held_bytes(), sender, client, state).await?;
    let head = Response::from_parts(parts, ());
    let mut stream = Http2Sender {
        stream: sender.send_response(head, is_bodiless)?,
        client,
        state,
        held: MemoryReservation::of(state.memory()),
    };
    if is_bodiless {
        return Ok(());
    }
    while let Some(piece) = poll_fn(|cx| stream.poll_piece(&mut body, cx)).await {
        match piece? {
            Some(piece) if end == Http2StreamEnd::Malformed => {
                return stream.send_and_reset(piece).await;
            }
            Some(piece) => stream.send(piece, body.is_end_stream()).await?,
            None => {
                return stream
                    .stream
                    .send_data(client.unsent.piece(Bytes::new()), true);
            }
        }
        if body.is_end_stream() {
            break;
        }
    }
    Ok(())
}

/// Waits until the socket takes bytes, since h2 would keep headers without a bound: they do not
/// count as unsent. The response holds `body` bytes meanwhile.
async fn await_socket(
    parts: &Parts,
    body: usize,
    sender: &mut SendResponse<SentPiece>,
    client: &Http2Client,
    state: &Rc<ConnectionState>,
) -> Result<(), Error> {
    let mut held = MemoryReservation::of(state.memory());
    let waited = poll_fn(|cx| {
        if !client.unsent.is_blocked(cx) {
            return Poll::Ready(Ok(()));
        }
        if held.bytes() == 0 {
            let fields = parts.headers.iter();
            let bytes = fields.map(|(name, value)| name.as_str().len() + value.len());
            held.grow(body + bytes.sum::<usize>());
            state.set_write_blocked(true);
        }
        let reset = ready!(sender.poll_reset(cx));
        Poll::Ready(Err(reset.map_or_else(|it| it, Error::from)))
    });
    let waited = waited.await;
    state.set_write_blocked(false);
    waited
}

/// Completes the header fields, as hyper does for HTTP/1.1. Returns whether there is no body.
fn prepare(parts: &mut Parts, body: &TrackedBody, is_head: bool, client: &Http2Client) -> bool {
    let headers = &mut parts.headers;
    without_connection_fields(headers);
    complete(headers, client);
    let has_none = matches!(
        parts.status,
        StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED
    );
    if let Some(length) = body.size_hint().exact() {
        // The application may have omitted the body of a response to HEAD.
        let is_known = !has_none && (!is_head || length > 0);
        if is_known && !headers.contains_key(CONTENT_LENGTH) {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
    }
    has_none || is_head || body.is_end_stream()
}

/// Removes the fields that belong to a connection of HTTP/1.1, with those that `Connection` names.
pub(super) fn without_connection_fields(headers: &mut HeaderMap) {
    let lines = headers
        .get_all(CONNECTION)
        .iter()
        .map(HeaderValue::as_bytes);
    let named = lines.flat_map(members).map(HeaderName::from_bytes);
    let named: Vec<HeaderName> = named.filter_map(Result::ok).collect();
    for name in &named {
        headers.remove(name);
    }
    for name in &CONNECTION_FIELDS {
        headers.remove(name);
    }
}

/// Adds the fields that each response has.
pub(super) fn complete(headers: &mut HeaderMap, client: &Http2Client) {
    if !headers.contains_key(DATE) {
        headers.insert(DATE, client.protocol.date.value());
    }
}

/// The sending side of a stream.
struct Http2Sender<'a> {
    stream: SendStream<SentPiece>,
    client: &'a Http2Client,
    state: &'a Rc<ConnectionState>,
    /// The memory of the bytes that wait for the socket.
    held: MemoryReservation,
}

impl Http2Sender<'_> {
    /// The next piece of the body, or its end; an error when the stream is over.
    fn poll_piece(
        &mut self,
        body: &mut TrackedBody,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Option<Bytes>, Error>>> {
        if let Poll::Ready(reset) = self.stream.poll_reset(cx) {
            return Poll::Ready(Some(Err(reset.map_or_else(|it| it, Error::from))));
        }
        match ready!(body.poll_bytes(cx)) {
            Some(Ok(piece)) => Poll::Ready(Some(Ok(Some(piece)))),
            Some(Err(_)) => {
                // The application has broken off the response.
                self.stream.send_reset(Reason::INTERNAL_ERROR);
                Poll::Ready(None)
            }
            None => Poll::Ready(Some(Ok(None))),
        }
    }

    /// Passes on a piece, as much at once as the client and the socket take.
    async fn send(&mut self, mut piece: Bytes, is_last: bool) -> Result<(), Error> {
        self.stream.reserve_capacity(piece.len());
        loop {
            let room = poll_fn(|cx| self.poll_room(piece.len(), cx)).await?;
            let part = piece.split_to(room.min(piece.len()));
            self.state.bytes.count_written(part.len());
            let is_end = is_last && piece.is_empty();
            let part = self.client.unsent.piece(part);
            self.stream.send_data(part, is_end)?;
            if piece.is_empty() {
                self.client.unsent.note_complete();
                return Ok(());
            }
        }
    }

    /// Passes on a piece, and resets the stream behind it: h2 drops what a stream has not sent when it is reset.
    async fn send_and_reset(&mut self, piece: Bytes) -> Result<(), Error> {
        self.send(piece.clone(), false).await?;
        let unsent = &self.client.unsent;
        poll_fn(|cx| unsent.poll_sent(&piece, cx)).await;
        self.stream.send_reset(Reason::PROTOCOL_ERROR);
        Ok(())
    }

    /// How many bytes the client and the socket take now. Only the wait for the client is timed
    /// here: the connection times the wait for the socket.
    fn poll_room(&mut self, wanted: usize, cx: &mut Context<'_>) -> Poll<Result<usize, Error>> {
        if self.client.unsent.is_full(cx) {
            self.held.set(wanted);
            self.state.set_write_blocked(false);
            return match self.stream.poll_reset(cx) {
                Poll::Ready(reset) => Poll::Ready(Err(reset.map_or_else(|it| it, Error::from))),
                Poll::Pending => Poll::Pending,
            };
        }
        self.held.set(0);
        let room = self.stream.capacity();
        if room > 0 {
            self.state.set_write_blocked(false);
            return Poll::Ready(Ok(room));
        }
        let room = self.stream.poll_capacity(cx);
        self.state.set_write_blocked(room.is_pending());
        match ready!(room) {
            Some(room) => Poll::Ready(room),
            None => Poll::Ready(Err(Error::from(Reason::CANCEL))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_connection_are_not_sent() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Hop"),
            ("x-hop", "1"),
            ("te", "trailers"),
            ("keep-alive", "timeout=5"),
            ("proxy-connection", "close"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("x-own", "1"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        without_connection_fields(&mut headers);
        assert!(headers.keys().eq(["x-own"]), "{headers:?}");
    }
}
