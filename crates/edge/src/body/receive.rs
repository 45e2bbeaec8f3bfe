use http::header::CONTENT_ENCODING;
use hyper::body::Incoming;

use super::arriving::Arriving;
use super::decode::{decode, decoder};
use super::sink::Sink;
use crate::dispatch::Call;
use crate::http::{Refusal, Watch};
use crate::server::Server;

/// Receives the body of `call`: afterwards the call is as the application is to see it.
///
/// Most bodies are small and here at once, so what only the others need is boxed: this future is moved.
pub(crate) async fn receive(
    call: &mut Call,
    body: Incoming,
    watch: &Watch,
    server: &Server,
) -> Result<(), Refusal> {
    let decoder = decoder(&mut call.parts.headers, &server.settings)?;
    let mut arriving = Arriving::new(body, watch, server.settings.max_body)?;
    let mut sink = Sink::of(call, server);
    match decoder {
        Some(decoder) => Box::pin(decode(decoder, &mut arriving, &mut sink)).await?,
        None => pass(&mut arriving, &mut sink).await?,
    }
    sink.finish(call).await
}

/// The call has no body: no byte of it is in any coding.
pub(crate) fn receive_nothing(call: &mut Call, server: &Server) {
    if server.settings.decode_requests {
        call.parts.headers.remove(CONTENT_ENCODING);
    }
}

async fn pass(arriving: &mut Arriving<'_>, sink: &mut Sink<'_>) -> Result<(), Refusal> {
    while let Some(data) = arriving.next().await? {
        sink.take(&data).await?;
    }
    Ok(())
}
