use std::ops::ControlFlow;
use std::pin::Pin;

use crate::request::request_context::RequestContext;
use carat_body::request::ReceivedBody;
use carat_dispatch::PendingReply;
use carat_exchange::{Call, ConnectionState, Refusal, Reply};

/// The result of a step of a request: its answer, or nothing, so that the next step follows.
pub(crate) type RequestStep = ControlFlow<RequestAnswer>;

/// A request that no step has answered yet.
pub(crate) struct ArrivedRequest {
    /// `None` once it was taken, by the step that answers.
    pub(crate) call: Option<Call>,
    pub(crate) body: ReceivedBody,
    pub(crate) context: RequestContext,
}

impl ArrivedRequest {
    pub(crate) fn call(&mut self) -> &mut Call {
        self.call.as_mut().expect("who takes it answers")
    }

    pub(crate) fn take_call(&mut self) -> Call {
        self.call.take().expect("who takes it answers")
    }

    pub(crate) fn path(&mut self) -> &str {
        self.call().parts.uri.path()
    }

    pub(crate) fn refuse_if(&self, is_refused: bool, refusal: Refusal) -> RequestStep {
        if is_refused {
            let refusal = refuse(refusal, &self.context.state);
            return ControlFlow::Break(RequestAnswer::Now(Err(refusal)));
        }
        ControlFlow::Continue(())
    }
}

/// A value that is there once something was awaited. Boxed: it takes no room in other requests.
pub(crate) type Later<T> = Pin<Box<dyn Future<Output = T>>>;

/// How a request is answered.
pub(crate) enum RequestAnswer {
    /// By a worker, or by a refusal.
    Now(Result<PendingReply, Refusal>),
    /// Once the body has arrived, or a disk has told whether there is a file.
    Later(Later<Result<Reply, Refusal>>),
    /// By a file.
    Found(Box<Reply>),
}

impl RequestAnswer {
    pub(crate) async fn reply(self) -> Result<Reply, Refusal> {
        match self {
            RequestAnswer::Now(pending) => pending?.await,
            RequestAnswer::Later(reply) => reply.await,
            RequestAnswer::Found(reply) => Ok(*reply),
        }
    }
}

/// Refuses a request that was not received completely. What still arrives is drained when the
/// connection is closed.
pub(crate) fn refuse(refusal: Refusal, state: &ConnectionState) -> Refusal {
    state.end.linger();
    state
        .end
        .refusal()
        .inspect(|_| state.end.refusal_sent())
        .unwrap_or(refusal)
}
