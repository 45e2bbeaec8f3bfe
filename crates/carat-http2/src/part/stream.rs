use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use h2::Error;
use h2::server::SendResponse;
use http::{HeaderMap, Method, Response, StatusCode};
use tokio::sync::OwnedSemaphorePermit;

use super::client::Http2Client;
use super::end::Http2StreamEnd;
use super::requests::{AdmittedStream, CheckedRequest, check_request};
use super::respond::respond;
use super::timer::PhaseTimer;
use super::unsent_bytes::SentPiece;
use crate::part::tunnels::{TakenStream, serve_taken};
use carat_exchange::{ConnectionState, Refusal, Takeover};
use carat_http::{ActiveEnd, TrackedBody};

/// How long a request keeps the permit for a file that its response may have. After that, another
/// request may have the permit.
const FILE_EXPECTED: Duration = Duration::from_millis(200);

/// Serves the request of one stream.
pub(super) async fn serve_stream(
    admitted: AdmittedStream,
    client: Rc<Http2Client>,
) -> Http2StreamEnd {
    let AdmittedStream {
        request,
        mut sender,
        account,
        window,
    } = admitted;
    let core = &client.core;
    let state = Rc::new(ConnectionState::of_stream(account, &client.state));
    let deadline = Rc::new(core.deadlines().deadline());
    let active = core.active().add(&state, &deadline);
    state.begin_message();
    let mut timer = PhaseTimer::new(&deadline, &state, core.settings());
    let is_head = request.method() == Method::HEAD;
    let refused = |refusal| core.refused(refusal, &client.peer, &state);
    let (response, end) = match check_request(request, window, &state, &core.header_limits()) {
        Ok(mut request) => {
            let tunnel = request.tunnel.take();
            let serving = call(request, &state, &mut sender, &client, &mut timer);
            match Box::pin(serving).await {
                Ok(response) => (response, Http2StreamEnd::Complete),
                Err(StreamCut::Refused(refusal)) => (refused(refusal), Http2StreamEnd::CutOff),
                Err(StreamCut::Ended(end)) => return end,
                Err(StreamCut::TakenOver(takeover, _permit)) => {
                    let Some((from_client, window)) = tunnel else {
                        return Http2StreamEnd::CutOff;
                    };
                    // A tunnel adds itself to the active connections while it waits for its client.
                    drop((active, window));
                    let taken = TakenStream {
                        takeover: *takeover,
                        from_client,
                        sender: &mut sender,
                        client: &client,
                        state: &state,
                        deadline: &deadline,
                    };
                    return Box::pin(serve_taken(taken)).await;
                }
            }
        }
        Err(refusal) => (refused(refusal), refusal.into()),
    };
    let responding = respond(response, is_head, end, &mut sender, &client, &state);
    finish(responding, &mut timer, end).await
}

/// Sends the response, unless the client does not read it.
async fn finish(
    responding: impl Future<Output = Result<(), Error>>,
    timer: &mut PhaseTimer<'_>,
    end: Http2StreamEnd,
) -> Http2StreamEnd {
    let mut responding = pin!(responding);
    poll_fn(|cx| {
        if let Poll::Ready(sent) = responding.as_mut().poll(cx) {
            return Poll::Ready(sent.map_or(Http2StreamEnd::Broken, |()| end));
        }
        // The handles are dropped, which resets the stream.
        timer
            .expired(cx)
            .map_or(Poll::Pending, |_| Poll::Ready(Http2StreamEnd::CutOff))
    })
    .await
}

/// Why a request does not get a response in the usual way.
enum StreamCut {
    Refused(Refusal),
    Ended(Http2StreamEnd),
    TakenOver(Box<Takeover>, Option<OwnedSemaphorePermit>),
}

/// Passes the request along the path that all requests take.
async fn call(
    request: CheckedRequest,
    state: &Rc<ConnectionState>,
    sender: &mut SendResponse<SentPiece>,
    client: &Http2Client,
    timer: &mut PhaseTimer<'_>,
) -> Result<Response<TrackedBody>, StreamCut> {
    let CheckedRequest {
        request,
        mut expectation,
        ..
    } = request;
    let mut permit = match permit(state, sender, client, timer).await {
        Ok(permit) => Some(permit),
        Err(StreamCut::Refused(refusal)) => {
            let refused = client.core.refuse(request, &client.peer, state, refusal);
            let Ok(response) = refused.await;
            return Ok(response);
        }
        Err(cut) => return Err(cut),
    };
    let expected = client.core.deadlines().deadline();
    expected.set(FILE_EXPECTED);
    let mut serving = client.core.serve(request, &client.peer, state);
    poll_fn(|cx| {
        if let Poll::Ready(Ok(response)) = serving.as_mut().poll(cx) {
            return Poll::Ready(permitted(response, permit.take(), client));
        }
        if let Some(takeover) = state.takeover() {
            return Poll::Ready(Err(StreamCut::TakenOver(takeover, permit.take())));
        }
        let keeps_permit = permit.is_none() || state.awaits_tunnel();
        if !keeps_permit && expected.passed(cx.waker()) {
            permit = None;
        }
        if expectation.take_if(|it| it.is_asked(cx)).is_some() {
            inform(sender, StatusCode::CONTINUE, HeaderMap::new());
        }
        let hints = if client.unsent.is_blocked(cx) {
            Vec::new()
        } else {
            state.interim.take_hints()
        };
        for hints in hints {
            inform(sender, StatusCode::EARLY_HINTS, hints);
        }
        unless_cut(sender, timer, cx)
    })
    .await
}

/// Sends a response before the final one.
fn inform(sender: &mut SendResponse<SentPiece>, status: StatusCode, headers: HeaderMap) {
    let mut response = Response::new(());
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    // If the stream is over, the next poll of it says so.
    let _ = sender.send_informational(response);
}

/// The response, with a permit if it has a file. The file is open already.
fn permitted(
    mut response: Response<TrackedBody>,
    permit: Option<OwnedSemaphorePermit>,
    client: &Http2Client,
) -> Result<Response<TrackedBody>, StreamCut> {
    let body = response.body_mut();
    if body.holds_file() {
        let permit = permit.or_else(|| client.files.take_now());
        body.keep_permit(permit.ok_or(StreamCut::Refused(Refusal::ReplyLost))?);
    }
    Ok(response)
}

/// The permit for the file that the response may have, or for the socket of a tunnel.
async fn permit(
    state: &ConnectionState,
    sender: &mut SendResponse<SentPiece>,
    client: &Http2Client,
    timer: &mut PhaseTimer<'_>,
) -> Result<OwnedSemaphorePermit, StreamCut> {
    if state.awaits_tunnel() {
        let further = client.files.further_one();
        return further.ok_or(StreamCut::Refused(Refusal::NoDescriptors));
    }
    let mut permitted = pin!(client.files.take());
    let permit = poll_fn(|cx| match permitted.as_mut().poll(cx) {
        Poll::Ready(permit) => Poll::Ready(Ok(permit)),
        Poll::Pending => unless_cut(sender, timer, cx),
    });
    permit.await
}

/// Pending, unless the client has reset the stream, or it must end.
fn unless_cut<T>(
    sender: &mut SendResponse<SentPiece>,
    timer: &mut PhaseTimer<'_>,
    cx: &mut Context<'_>,
) -> Poll<Result<T, StreamCut>> {
    if sender.poll_reset(cx).is_ready() {
        return Poll::Ready(Err(StreamCut::Ended(Http2StreamEnd::Broken)));
    }
    match timer.expired(cx) {
        Some(ActiveEnd::Over(Some(refusal))) => Poll::Ready(Err(StreamCut::Refused(refusal))),
        Some(_) => Poll::Ready(Err(StreamCut::Ended(Http2StreamEnd::CutOff))),
        None => Poll::Pending,
    }
}
