use std::mem::replace;
use std::rc::Rc;

use http::Response;

use crate::request::request_context::RequestContext;
use crate::request::request_step::Later;
use carat_body::response::ClientBody;
use carat_exchange::{Refusal, Reply};

/// Cuts the ranges that the client wants out of a reply.
pub(crate) fn cut(
    reply: Result<Reply, Refusal>,
    context: &mut RequestContext,
) -> Result<Response<ClientBody>, Refusal> {
    let reply = reply?;
    context.entry.timed(reply.queue_time, reply.app_time);
    context.spooled = Some(reply.spooled);
    let mut response = reply.response.map(ClientBody::from);
    if let (Some(encoding), true) = (&context.encoding, context.ranges.is_wanted()) {
        encoding.declare(&mut response);
    }
    Ok(context.ranges.apply(response, context.encoding.is_some()))
}

/// Applies the content coding that the client prefers.
pub(crate) fn encode(
    response: &mut Result<Response<ClientBody>, Refusal>,
    context: &mut RequestContext,
) -> Option<Later<Result<Response<ClientBody>, Refusal>>> {
    let encoding = context.encoding.take()?;
    let memory = Rc::clone(context.state.memory());
    let response = replace(response, Err(Refusal::ResponseNotStored));
    Some(Box::pin(
        async move { encoding.apply(response?, &memory).await },
    ))
}
