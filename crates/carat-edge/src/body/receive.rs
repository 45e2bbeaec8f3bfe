use std::rc::Rc;

use carat_coding::Decoder;
use http::header::{CONTENT_ENCODING, EXPECT};
use hyper::body::Incoming;

use super::arriving::Arriving;
use super::decode::{decode, decoder};
use super::sink::Sink;
use super::upload::{Progress, Upload};
use crate::dispatch::{Call, CallBody};
use crate::http::{Refusal, Watch};
use crate::server::Server;
use crate::settings::RequestMode;

/// Receives the body of `call`: afterwards the call is as the application is to see it. A body that is
/// handed over while it arrives may still break off: its `Progress` tells.
///
/// Most bodies are small and here at once, so what only the others need is boxed: this future is moved.
pub(crate) async fn receive(
    call: &mut Call,
    body: Incoming,
    watch: &Rc<Watch>,
    server: &Server,
) -> Result<Option<Progress>, Refusal> {
    let decoder = decoder(&mut call.parts.headers, &server.settings)?;
    let mut arriving = Arriving::new(body, watch, server.settings.max_body)?;
    let mut sink = Sink::of(call, server);
    if sink.is_plain() && is_streamed(&arriving, server) {
        let upload = Upload {
            arriving,
            decoder,
            awaits_leave: call.parts.headers.contains_key(EXPECT),
        };
        let (intake, progress) = upload.start();
        call.body = CallBody::Stream(Rc::new(intake));
        return Ok(Some(progress));
    }
    pass(decoder, &mut arriving, &mut sink).await?;
    sink.finish(call).await?;
    Ok(None)
}

/// Whether the application begins before the body is there. A small body that is there already is worth
/// no round trip.
fn is_streamed(arriving: &Arriving, server: &Server) -> bool {
    let inline_limit = server.settings.inline_body_limit as u64;
    let announced = arriving.announced();
    let is_small = announced.is_none_or(|bytes| bytes <= inline_limit);
    server.settings.request_body == RequestMode::Stream && !(is_small && arriving.has_arrived())
}

/// The call has no body: no byte of it is in any coding.
pub(crate) fn receive_nothing(call: &mut Call, server: &Server) {
    if server.settings.decode_requests {
        call.parts.headers.remove(CONTENT_ENCODING);
    }
}

/// Passes on what arrives, decoded if it has to be.
pub(super) async fn pass(
    decoder: Option<Box<Decoder>>,
    arriving: &mut Arriving,
    sink: &mut Sink<'_>,
) -> Result<(), Refusal> {
    if let Some(decoder) = decoder {
        return Box::pin(decode(decoder, arriving, sink)).await;
    }
    while let Some(data) = arriving.next().await? {
        sink.take(&data).await?;
    }
    Ok(())
}
