use hyper::body::Incoming;

use super::arriving::Arriving;
use super::sink::Sink;
use crate::dispatch::Call;
use crate::http::{Refusal, Watch};
use crate::server::Server;

/// Receives the body of `call`: afterwards the call is as the application is to see it.
pub(crate) async fn receive(
    call: &mut Call,
    body: Incoming,
    watch: &Watch,
    server: &Server,
) -> Result<(), Refusal> {
    let mut arriving = Arriving::new(body, watch, server.settings.max_body)?;
    let mut sink = Sink::of(call, server);
    while let Some(data) = arriving.next().await? {
        sink.take(&data).await?;
    }
    call.body = sink.finish().await?;
    Ok(())
}
