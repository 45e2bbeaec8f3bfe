use std::convert::Infallible;
use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;

use carat_guard::GuardError;
use http::header::{CONNECTION, CONTENT_LENGTH};
use http::{HeaderValue, Request, Response, Version};

use super::access::AccessEntry;
use super::server::Server;
use super::static_files::{FirstLook, look_again};
use super::takeover::{hand_over, take_tunnel};
use super::tracked_body::TrackedBody;
use crate::body::request::{ReceivedBody, UploadProgress, receive, receive_empty};
use crate::body::response::{ClientBody, RangeRequest, ResponseEncoding};
use crate::dispatch::PendingReply;
use crate::exchange::{
    Call, ConnectionState, ForwardedClient, MemoryAccount, Peer, Refusal, Reply, accepts_html,
};

/// Serves one request: the order of these steps is the behavior of the server.
///
/// A request without a body is dispatched before this returns. hyper moves the future around, so what
/// remains to be awaited is small.
pub(super) fn serve(
    mut request: Request<ReceivedBody>,
    peer: &Rc<Peer>,
    state: &Rc<ConnectionState>,
    server: &Rc<Server>,
) -> impl Future<Output = Result<Response<TrackedBody>, Infallible>> + use<> {
    let forwarded = server
        .proxies
        .receive(peer.proxy_fields, request.headers_mut());
    let entry = start_entry(&request, forwarded.as_deref(), peer, server);
    let representation = Representation::negotiate(&request, server);
    let look = server.files.requested.look(&request);
    let (parts, body) = request.into_parts();
    let mut call = Call::new(parts, Rc::clone(peer), Rc::clone(state.memory()));
    call.forwarded = forwarded;
    call.response_file = state.response_file();
    if call.parts.version >= Version::HTTP_11 {
        call.hints = Some(Rc::<ConnectionState>::clone(state));
    }
    let scheme = call.scheme();
    let force_tls = server.force_tls.as_ref();
    let location = force_tls.and_then(|force_tls| force_tls.location(&call));
    let to_tls = location.as_ref().map(|_| Refusal::TlsRequired);
    let kept_out = to_tls.or_else(|| server.keeps_out(call.parts.uri.path()));
    let dispatched = match kept_out {
        Some(refusal) => Dispatched::Now(Err(refuse(refusal, state))),
        None => dispatch(call, body, look, state, server),
    };
    let (state, server) = (Rc::clone(state), Rc::clone(server));
    let is_http10 = representation.is_http10;
    async move {
        let mut reply = dispatched.reply().await;
        poll_fn(|cx| state.interim().poll_written(cx)).await;
        if let Some(file) = server.files.named.take(&mut reply) {
            reply = Box::pin(file.send(reply, &server.files.disk)).await;
        }
        let answered = respond(reply, representation, entry, Rc::clone(&state), &server);
        let mut response = answered.await;
        if let Some(force_tls) = &server.force_tls {
            force_tls.complete(&mut response, scheme, location);
        }
        Ok(if server.turns_away() {
            last_of_connection(response, is_http10, &state)
        } else {
            response
        })
    }
}

/// Starts the line of a request in the access log, which names the client that a proxy has named.
fn start_entry<B>(
    request: &Request<B>,
    forwarded: Option<&ForwardedClient>,
    peer: &Peer,
    server: &Server,
) -> AccessEntry {
    let client = forwarded.and_then(|client| client.remote.as_deref());
    let client = client.unwrap_or_else(|| peer.logged());
    server.access_log.start(request, client)
}

/// Makes this the last response of its connection. The client may have sent further requests already.
fn last_of_connection<B>(
    mut response: Response<B>,
    is_http10: bool,
    state: &ConnectionState,
) -> Response<B> {
    if is_http10 {
        // Otherwise hyper adds `keep-alive` for a client that asked for it.
        *response.version_mut() = Version::HTTP_10;
    }
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
    state.linger();
    response
}

/// When a request is dispatched.
enum Dispatched {
    Now(Result<PendingReply, Refusal>),
    /// Once the body has arrived, or a disk has told that there is no file.
    Later(Pin<Box<dyn Future<Output = Result<Reply, Refusal>>>>),
    /// Never: it asks for a file that is there.
    Found(Box<Reply>),
}

impl Dispatched {
    async fn reply(self) -> Result<Reply, Refusal> {
        match self {
            Dispatched::Now(pending) => pending?.await,
            Dispatched::Later(reply) => reply.await,
            Dispatched::Found(reply) => Ok(*reply),
        }
    }
}

/// Dispatches a request: now, or once its body has arrived.
fn dispatch(
    mut call: Call,
    body: ReceivedBody,
    look: FirstLook,
    state: &Rc<ConnectionState>,
    server: &Rc<Server>,
) -> Dispatched {
    if !body.is_end_stream() {
        let (state, server) = (Rc::clone(state), Rc::clone(server));
        Dispatched::Later(Box::pin(receive_and_dispatch(call, body, state, server)))
    } else if server.is_unready_at(call.parts.uri.path()) {
        Dispatched::Now(Err(Refusal::Stopping))
    } else {
        receive_empty(&mut call, &server.request_bodies);
        dispatch_unless_found(look, call, server)
    }
}

/// Dispatches a request without a body, unless it asks for a file.
fn dispatch_unless_found(look: FirstLook, call: Call, server: &Rc<Server>) -> Dispatched {
    match look {
        FirstLook::Missing => Dispatched::Now(server.dispatch(call)),
        FirstLook::Found(response) => Dispatched::Found(Box::new(server.file_reply(response))),
        FirstLook::Refused(refusal) => Dispatched::Now(Err(refusal)),
        FirstLook::Unknown(query) => {
            let server = Rc::clone(server);
            Dispatched::Later(Box::pin(async move {
                match look_again(query, &server.files.disk).await? {
                    Some(response) => Ok(server.file_reply(response)),
                    None => server.dispatch(call)?.await,
                }
            }))
        }
    }
}

#[expect(clippy::manual_async_fn, reason = "that holds each argument twice")]
fn receive_and_dispatch(
    mut call: Call,
    body: ReceivedBody,
    state: Rc<ConnectionState>,
    server: Rc<Server>,
) -> impl Future<Output = Result<Reply, Refusal>> {
    async move {
        let received = receive(&mut call, body, &state, &server.request_bodies).await;
        let progress = received.map_err(|refusal| refuse(refusal, &state))?;
        match (server.dispatch(call), progress) {
            (Ok(pending), None) => pending.await,
            (Ok(pending), Some(progress)) => reply_unless_broken(pending, progress, &state).await,
            (Err(refusal), progress) => {
                if let Some(mut progress) = progress {
                    progress.settled().await;
                }
                Err(refusal)
            }
        }
    }
}

/// The reply to a request whose body is still arriving, or why the body broke off.
async fn reply_unless_broken(
    pending: PendingReply,
    mut progress: UploadProgress,
    state: &ConnectionState,
) -> Result<Reply, Refusal> {
    let mut pending = pin!(pending);
    tokio::select! {
        biased;
        reply = &mut pending => {
            progress.settled().await;
            reply
        }
        finished = progress.finished() => match finished {
            Ok(()) => pending.await,
            Err(refusal) => Err(refuse(refusal, state)),
        },
    }
}

/// The form of a response that the client prefers: its ranges, its content coding and its framing.
struct Representation {
    is_http10: bool,
    ranges: RangeRequest,
    encoding: Option<ResponseEncoding>,
    /// Whether an error is a page.
    gets_page: bool,
}

impl Representation {
    fn negotiate<B>(request: &Request<B>, server: &Server) -> Representation {
        let encoders = server.encoders.as_ref();
        Representation {
            is_http10: request.version() == Version::HTTP_10,
            ranges: RangeRequest::of(request),
            encoding: encoders.map(|encoders| ResponseEncoding::negotiate(request, encoders)),
            gets_page: !server.files.pages.is_empty() && accepts_html(request.headers()),
        }
    }

    async fn apply(
        self,
        mut response: Response<ClientBody>,
        memory: &Rc<MemoryAccount>,
    ) -> Result<Response<ClientBody>, Refusal> {
        if let (Some(encoding), true) = (&self.encoding, self.ranges.is_wanted()) {
            encoding.declare(&mut response);
        }
        let response = self.ranges.apply(response, self.encoding.is_some());
        let response = match self.encoding {
            // Boxed: most responses are not encoded, and need not carry the room for it around.
            Some(encoding) => Box::pin(encoding.apply(response, memory)).await?,
            None => response,
        };
        Ok(if self.is_http10 {
            delimited_by_close(response)
        } else {
            response
        })
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

async fn respond(
    mut reply: Result<Reply, Refusal>,
    representation: Representation,
    mut entry: AccessEntry,
    state: Rc<ConnectionState>,
    server: &Server,
) -> Response<TrackedBody> {
    if let Some(tunnel) = take_tunnel(&mut reply, &state) {
        hand_over(tunnel, entry, &state);
        // The connection is not hyper's any more.
        match pending::<Infallible>().await {}
    }
    if state.awaits_tunnel() {
        reply = reply.and_then(no_tunnel);
    }
    let (mut spooled, gets_page) = (None, representation.gets_page);
    let response = match reply {
        Ok(mut reply) => {
            if gets_page && reply.response.body().is_failure {
                server.files.pages.dress(None, &mut reply.response);
            }
            spooled = Some(reply.spooled);
            let response = reply.response.map(ClientBody::from);
            let prepared = representation.apply(response, state.memory()).await;
            prepared.inspect(|_| entry.timed(reply.queue_time, reply.app_time))
        }
        Err(refusal) => Err(refusal),
    };
    let response = response.unwrap_or_else(|refusal| {
        entry.refused(refusal);
        let mut response = refusal.into_response();
        if gets_page {
            server.files.pages.dress(Some(refusal), &mut response);
        }
        response.map(ClientBody::from)
    });
    entry.responded(response.status());
    state.begin_response(response.version() == Version::HTTP_10);
    response.map(|body| TrackedBody::new(body, entry, state, spooled))
}

/// Any success would be the beginning of a tunnel to the client (RFC 8441, section 5).
fn no_tunnel(reply: Reply) -> Result<Reply, Refusal> {
    if reply.response.status().is_success() {
        return Err(Refusal::Malformed(GuardError::Connect));
    }
    Ok(reply)
}

/// Refuses a request that was not received completely. What still arrives is drained when the
/// connection is closed.
fn refuse(refusal: Refusal, state: &ConnectionState) -> Refusal {
    state.linger();
    state
        .refusal()
        .inspect(|_| state.refusal_sent())
        .unwrap_or(refusal)
}
