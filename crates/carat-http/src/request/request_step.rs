use std::ops::ControlFlow;
use std::pin::Pin;

use crate::request::request_context::RequestContext;
use carat_body::request::ReceivedBody;
use carat_dispatch::PendingReply;
use carat_exchange::{Call, ConnectionState, Refusal, Reply};
use carat_settings::UrlPrefix;

/// The result of a step of a request: its answer, or nothing, so that the next step follows.
pub type RequestStep = ControlFlow<RequestAnswer>;

/// A request that no step has answered yet.
pub struct ArrivedRequest {
    /// The request; `None` once the step that answers has taken it.
    call: Option<Call>,
    pub(crate) body: ReceivedBody,
}

impl ArrivedRequest {
    pub(crate) fn new(call: Call, body: ReceivedBody) -> ArrivedRequest {
        let call = Some(call);
        ArrivedRequest { call, body }
    }

    /// The request as the application would see it.
    pub fn call(&mut self) -> &mut Call {
        self.call.as_mut().expect("who takes it answers")
    }

    /// Takes the request, to dispatch it. The step that takes it must answer it.
    pub fn take_call(&mut self) -> Call {
        self.call.take().expect("who takes it answers")
    }

    /// Whether a body is yet to be received.
    pub fn has_body(&self) -> bool {
        !self.body.is_end_stream()
    }

    /// The path of the target, as the client spells it.
    pub fn path(&mut self) -> &str {
        self.call().parts.uri.path()
    }
}

/// A value that has to be awaited. Boxed, so that the future takes no room in other requests.
pub type Later<T> = Pin<Box<dyn Future<Output = T>>>;

/// How a request is answered.
pub enum RequestAnswer {
    /// The request was dispatched to a worker, or refused.
    Now(Result<PendingReply, Refusal>),
    /// The reply comes later: once the body has arrived, or another request has got its reply.
    Later(Later<Result<Reply, Refusal>>),
    /// The edge itself has a reply.
    Found(Box<Reply>),
    /// A step waits for something that may bring the reply. If it does not, the following steps answer.
    Waits(Box<WaitingRequest>),
}

/// A request whose step waits for something, such as a disk.
pub struct WaitingRequest {
    /// The wait, which brings the reply or nothing.
    pub(crate) search: ReplySearch,
    pub(crate) call: Call,
    /// The index of the part whose turn it is if the search brings nothing.
    pub(crate) next: usize,
}

/// A reply, if there is one.
pub type ReplySearch = Later<Result<Option<Reply>, Refusal>>;

impl RequestContext {
    /// Refuses a request that was not received completely if `is_refused` is true.
    pub fn refuse_if(&self, is_refused: bool, refusal: Refusal) -> RequestStep {
        if is_refused {
            let refusal = refuse(refusal, &self.state);
            return ControlFlow::Break(RequestAnswer::Now(Err(refusal)));
        }
        ControlFlow::Continue(())
    }
}

/// Refuses a request that was not received completely. The bytes that still arrive are drained when the connection is
/// closed.
pub(crate) fn refuse(refusal: Refusal, state: &ConnectionState) -> Refusal {
    state.end.linger();
    state
        .end
        .refusal()
        .inspect(|_| state.end.refusal_sent())
        .unwrap_or(refusal)
}

/// Refuses a request for a path that does not lead to the application.
pub(crate) fn check_prefix(
    request: &mut ArrivedRequest,
    context: &RequestContext,
    prefix: Option<&UrlPrefix>,
) -> RequestStep {
    let is_outside = prefix.is_some_and(|prefix| !prefix.contains(request.path()));
    context.refuse_if(is_outside, Refusal::OutsidePrefix)
}
