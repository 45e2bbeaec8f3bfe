use http::Response;

use crate::request::request_context::RequestContext;
use carat_body::response::ClientBody;
use carat_exchange::{Refusal, Reply};

/// Cuts the ranges that the client wants out of a reply.
pub(crate) fn cut(
    reply: Result<Reply, Refusal>,
    context: &mut RequestContext,
) -> Result<Response<ClientBody>, Refusal> {
    let reply = reply?;
    context.entry.timed(reply.times);
    context.spooled = Some(reply.spooled);
    Ok(context.ranges.apply(reply.response.map(ClientBody::from)))
}
