use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::Poll;

use h2::RecvStream;
use h2::server::SendResponse;
use http::header::CONTENT_LENGTH;
use http::response::Parts;
use http::{Response, StatusCode};
use tokio::io::AsyncWriteExt;

use crate::part::client::Http2Client;
use crate::part::end::Http2StreamEnd;
use crate::part::requests::hide_own_accept;
use crate::part::respond::{complete, without_connection_fields};
use crate::part::tunnels::raw_head::RawHead;
use crate::part::tunnels::tunnel_stream::TunnelStream;
use crate::part::unsent_bytes::SentPiece;
use carat_exchange::{ConnectionState, Takeover, TunnelPlace};
use carat_http::{Application, Deadline, TunnelEnd, TunnelEnds, serve_tunnel};

/// A stream that an application has taken over (RFC 8441).
pub(crate) struct TakenStream<'a> {
    pub(crate) takeover: Takeover,
    pub(crate) from_client: RecvStream,
    pub(crate) sender: &'a mut SendResponse<SentPiece>,
    pub(crate) client: &'a Http2Client,
    pub(crate) state: &'a Rc<ConnectionState>,
    pub(crate) deadline: &'a Rc<Deadline>,
}

/// Sends the response of the application, and carries bytes both ways if the response opens a
/// tunnel.
pub(crate) async fn serve_taken(stream: TakenStream<'_>) -> Http2StreamEnd {
    let log = stream.client.core.log();
    open(stream).await.unwrap_or_else(|error| {
        log.error("tunnel not opened", &[("cause", &error)]);
        Http2StreamEnd::CutOff
    })
}

async fn open(stream: TakenStream<'_>) -> io::Result<Http2StreamEnd> {
    let TakenStream {
        takeover,
        from_client,
        sender,
        client,
        state,
        deadline,
    } = stream;
    let core = &client.core;
    let Takeover {
        tunnel,
        head,
        mut log,
    } = takeover;
    let mut application = Application::open(tunnel.application)?;
    let (head, first) = if let Some(head) = head {
        (head, Vec::new())
    } else {
        let read = raw_head(&mut application, &tunnel.place, sender, state).await;
        let Some(read) = read else {
            return Ok(Http2StreamEnd::CutOff);
        };
        read?
    };
    let (head, is_tunnel) = translated(head, client);
    log.responded(head.status);
    let to_client = sender.send_response(Response::from_parts(head, ()), !is_tunnel);
    let to_client = to_client.map_err(io::Error::other)?;
    if !is_tunnel {
        return Ok(Http2StreamEnd::Complete);
    }
    log.sent(first.len());
    client.stream.borrow().keep_alive();
    let mut stream = TunnelStream::new(from_client, to_client, client);
    let state = Rc::clone(state);
    let ends = TunnelEnds::of_stream(application, tunnel.place, log, first, state);
    let served = serve_tunnel(&mut stream, ends, deadline, core.settings(), core.active());
    let end = served.await;
    if end == TunnelEnd::Complete {
        // A client that is gone needs not be told.
        let _ = stream.shutdown().await;
        return Ok(Http2StreamEnd::Complete);
    }
    // The handles are dropped, which resets the stream.
    Ok(Http2StreamEnd::CutOff)
}

/// The response head that the application writes itself, and the bytes that follow it; `None` when
/// the client or the worker is gone before that.
async fn raw_head(
    application: &mut Application,
    place: &TunnelPlace,
    sender: &mut SendResponse<SentPiece>,
    state: &Rc<ConnectionState>,
) -> Option<io::Result<(Parts, Vec<u8>)>> {
    let mut raw = RawHead::new(state.memory());
    poll_fn(|cx| {
        if sender.poll_reset(cx).is_ready() || place.poll_closing(cx) {
            return Poll::Ready(None);
        }
        raw.poll(application, cx).map(Some)
    })
    .await
}

/// The response to an upgrade as a response to CONNECT, and whether it opens the tunnel. Any other
/// response loses its body: only the application, which has written it itself, knows how the body
/// is framed.
fn translated(mut head: Parts, client: &Http2Client) -> (Parts, bool) {
    let is_tunnel = head.status == StatusCode::SWITCHING_PROTOCOLS;
    if is_tunnel {
        head.status = StatusCode::OK;
        hide_own_accept(&mut head.headers);
    } else if !(head.status.is_client_error() || head.status.is_server_error()) {
        head.status = StatusCode::INTERNAL_SERVER_ERROR;
    }
    without_connection_fields(&mut head.headers);
    head.headers.remove(CONTENT_LENGTH);
    complete(&mut head.headers, client);
    (head, is_tunnel)
}
