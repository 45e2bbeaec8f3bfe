use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;

use http::header::CONNECTION;
use http::{HeaderValue, Request, Response, Version};

use super::access::AccessEntry;
use super::respond::{Representation, respond};
use super::server::Server;
use super::static_files::{FirstLook, look_again};
use super::tracked_body::TrackedBody;
use crate::body::request::{ReceivedBody, UploadProgress, receive, receive_empty};
use crate::dispatch::PendingReply;
use crate::exchange::{Call, ConnectionState, ForwardedClient, Peer, Refusal, Reply};

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
        let answering = answer(dispatched, &state, &server);
        let mut response = respond(answering.await, representation, entry, &state, &server).await;
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

/// The reply to a request, once what precedes it has been written. On its own: what follows takes its room.
async fn answer(
    dispatched: Dispatched,
    state: &ConnectionState,
    server: &Server,
) -> Result<Reply, Refusal> {
    let mut reply = dispatched.reply().await;
    poll_fn(|cx| state.interim().poll_written(cx)).await;
    match server.files.named.take(&mut reply) {
        Some(file) => Box::pin(file.send(reply, &server.files.disk)).await,
        None => reply,
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

/// Refuses a request that was not received completely. What still arrives is drained when the
/// connection is closed.
fn refuse(refusal: Refusal, state: &ConnectionState) -> Refusal {
    state.linger();
    state
        .refusal()
        .inspect(|_| state.refusal_sent())
        .unwrap_or(refusal)
}
