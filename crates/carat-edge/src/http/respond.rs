use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use carat_guard::GuardError;
use http::header::{CONNECTION, CONTENT_LENGTH};
use http::{HeaderValue, Request, Response, Version};

use super::access::AccessEntry;
use super::server::Server;
use super::takeover::{hand_over, take_tunnel};
use super::tracked_body::TrackedBody;
use crate::body::response::{ClientBody, RangeRequest, ResponseEncoding};
use crate::exchange::{ConnectionState, Refusal, Reply, SpoolReservation, accepts_html};

/// The form of a response that the client prefers: its ranges, its content coding and its framing.
pub(super) struct Representation {
    pub(super) is_http10: bool,
    ranges: RangeRequest,
    encoding: Option<ResponseEncoding>,
    /// Whether an error is a page.
    gets_page: bool,
}

impl Representation {
    pub(super) fn negotiate<B>(request: &Request<B>, server: &Server) -> Representation {
        let encoders = server.encoders.as_ref();
        Representation {
            is_http10: request.version() == Version::HTTP_10,
            ranges: RangeRequest::of(request),
            encoding: encoders.map(|encoders| ResponseEncoding::negotiate(request, encoders)),
            gets_page: !server.files.pages.is_empty() && accepts_html(request.headers()),
        }
    }

    fn cut(&self, mut response: Response<ClientBody>) -> Response<ClientBody> {
        if let (Some(encoding), true) = (&self.encoding, self.ranges.is_wanted()) {
            encoding.declare(&mut response);
        }
        self.ranges.apply(response, self.encoding.is_some())
    }
}

/// A response on its way. By hand: an `async fn` would hold the response twice, for as long as the connection is active.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every response is of this kind, and a box takes time"
)]
pub(super) enum Responding {
    /// `None` once it was taken.
    Now(Option<Response<TrackedBody>>),
    /// Once it is encoded. Boxed: most responses are not.
    Later(Pin<Box<dyn Future<Output = Response<TrackedBody>>>>),
    /// The application has taken over the connection, which is not hyper's any more.
    Never,
}

impl Future for Responding {
    type Output = Response<TrackedBody>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut() {
            Responding::Now(response) => response.take().map_or(Poll::Pending, Poll::Ready),
            Responding::Later(response) => response.as_mut().poll(cx),
            Responding::Never => Poll::Pending,
        }
    }
}

/// Makes a reply the response that the client gets.
pub(super) fn respond(
    mut reply: Result<Reply, Refusal>,
    mut representation: Representation,
    entry: AccessEntry,
    state: &Rc<ConnectionState>,
    server: &Rc<Server>,
) -> Responding {
    if let Some(tunnel) = take_tunnel(&mut reply, state, server.tunnel_seats.as_ref()) {
        hand_over(tunnel, entry, state);
        return Responding::Never;
    }
    if state.awaits_tunnel() {
        reply = reply.and_then(no_tunnel);
    }
    let mut exit = Exit {
        entry,
        state: Rc::clone(state),
        server: Rc::clone(server),
        is_http10: representation.is_http10,
        gets_page: representation.gets_page,
        spooled: None,
    };
    let mut reply = match reply {
        Ok(reply) => reply,
        Err(refusal) => return Responding::Now(Some(exit.pass(Err(refusal)))),
    };
    if exit.gets_page && reply.response.body().is_failure {
        server.files.pages.dress(None, &mut reply.response);
    }
    exit.spooled = Some(reply.spooled);
    let response = representation.cut(reply.response.map(ClientBody::from));
    let (queue_time, app_time) = (reply.queue_time, reply.app_time);
    let Some(encoding) = representation.encoding.take() else {
        exit.entry.timed(queue_time, app_time);
        return Responding::Now(Some(exit.pass(Ok(response))));
    };
    Responding::Later(Box::pin(async move {
        let encoded = encoding.apply(response, exit.state.memory()).await;
        if encoded.is_ok() {
            exit.entry.timed(queue_time, app_time);
        }
        exit.pass(encoded)
    }))
}

/// What a response passes on its way to the client.
struct Exit {
    entry: AccessEntry,
    state: Rc<ConnectionState>,
    server: Rc<Server>,
    is_http10: bool,
    gets_page: bool,
    spooled: Option<SpoolReservation>,
}

impl Exit {
    fn pass(mut self, response: Result<Response<ClientBody>, Refusal>) -> Response<TrackedBody> {
        let response = match response {
            Ok(response) if self.is_http10 => delimited_by_close(response),
            Ok(response) => response,
            Err(refusal) => self.refuse(refusal),
        };
        self.entry.responded(response.status());
        let is_http10 = response.version() == Version::HTTP_10;
        self.state.begin_response(is_http10);
        let (entry, state, spooled) = (self.entry, self.state, self.spooled);
        response.map(|body| TrackedBody::new(body, entry, state, spooled))
    }

    fn refuse(&mut self, refusal: Refusal) -> Response<ClientBody> {
        self.entry.refused(refusal);
        let mut response = refusal.into_response();
        if self.gets_page {
            self.server.files.pages.dress(Some(refusal), &mut response);
        }
        response.map(ClientBody::from)
    }
}

/// Frames a body of unknown length for a client of HTTP/1.0, which knows no chunks: the end of the
/// connection ends the body. In a response of that version, hyper adds no `keep-alive` for a client that
/// asked for it.
fn delimited_by_close(mut response: Response<ClientBody>) -> Response<ClientBody> {
    if response.body().length().is_none() && !response.headers().contains_key(CONTENT_LENGTH) {
        *response.version_mut() = Version::HTTP_10;
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(CONNECTION, close);
    }
    response
}

/// Any success would be the beginning of a tunnel to the client (RFC 8441, section 5).
fn no_tunnel(reply: Reply) -> Result<Reply, Refusal> {
    if reply.response.status().is_success() {
        return Err(Refusal::Malformed(GuardError::Connect));
    }
    Ok(reply)
}
