use std::mem::replace;
use std::ops::ControlFlow;
use std::pin::pin;
use std::rc::Rc;
use std::time::Instant;

use crate::request::request_context::RequestContext;
use crate::request::request_dispatch::RequestDispatch;
use crate::request::request_step::{ArrivedRequest, RequestAnswer, RequestStep, refuse};
use carat_body::request::{ReceivedBody, RequestReceiver, UploadProgress};
use carat_dispatch::PendingReply;
use carat_exchange::{Call, ConnectionState, Refusal, Reply};

/// Receives the body of a request, and then dispatches the request. A request without a body continues with the next
/// step.
pub(crate) fn take_body(
    request: &mut ArrivedRequest,
    context: &RequestContext,
    receiver: &Rc<RequestReceiver>,
) -> RequestStep {
    if !request.has_body() {
        return ControlFlow::Continue(());
    }
    let call = request.take_call();
    let body = replace(&mut request.body, ReceivedBody::None);
    let (state, dispatch) = (Rc::clone(&context.state), Rc::clone(&context.dispatch));
    let upload = receive_and_dispatch(call, body, state, dispatch, Rc::clone(receiver));
    ControlFlow::Break(RequestAnswer::Later(Box::pin(upload)))
}

#[expect(clippy::manual_async_fn, reason = "that holds each argument twice")]
fn receive_and_dispatch(
    mut call: Call,
    body: ReceivedBody,
    state: Rc<ConnectionState>,
    dispatch: Rc<RequestDispatch>,
    receiver: Rc<RequestReceiver>,
) -> impl Future<Output = Result<Reply, Refusal>> {
    async move {
        let begun = Instant::now();
        let outcome = receiver.receive(&mut call, body, &state).await;
        call.body_wait_ms = u32::try_from(begun.elapsed().as_millis()).unwrap_or(u32::MAX);
        let progress = outcome.map_err(|refusal| refuse(refusal, &state))?;
        match (dispatch.dispatch(call), progress) {
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
