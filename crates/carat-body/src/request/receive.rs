use std::rc::Rc;

use http::header::{CONTENT_ENCODING, EXPECT};

use super::arriving::ArrivingBody;
use super::bodies::RequestBodies;
use super::decode::decoder;
use super::received_body::ReceivedBody;
use super::transfer::transfer;
use super::upload::{Upload, UploadProgress};
use crate::request::sinks::RequestSink;
use carat_exchange::{Call, CallBody, ConnectionState, Refusal};
use carat_settings::RequestMode;

/// Receives the body of `call`, and changes the call to what the application is to see. A body that is forwarded
/// while it arrives may still break off, which its [`UploadProgress`] reports.
///
/// Most bodies are small and already there, and this future is moved around, so what only other bodies need is boxed.
pub async fn receive(
    call: &mut Call,
    body: ReceivedBody,
    connection: &Rc<ConnectionState>,
    bodies: &RequestBodies,
) -> Result<Option<UploadProgress>, Refusal> {
    let settings = &bodies.settings;
    let decoder = decoder(&mut call.parts.headers, settings)?;
    let mut arriving = ArrivingBody::new(body, connection, settings.max_body)?;
    let mut sink = RequestSink::of(call, bodies);
    if sink.is_plain() && is_streamed(&mut arriving, bodies) {
        let upload = Upload {
            arriving,
            decoder,
            awaits_continue: call.parts.headers.contains_key(EXPECT),
        };
        let (stream, progress) = upload.start();
        call.body = CallBody::Stream(Rc::new(stream));
        return Ok(Some(progress));
    }
    transfer(decoder, &mut arriving, &mut sink).await?;
    sink.finish(call).await?;
    Ok(None)
}

/// Whether the application begins before the body is complete. A small body that is already there
/// is not worth a round trip.
fn is_streamed(arriving: &mut ArrivingBody, bodies: &RequestBodies) -> bool {
    let inline_limit = bodies.settings.inline_body_limit as u64;
    let announced = arriving.announced();
    let is_small = announced.is_none_or(|bytes| bytes <= inline_limit);
    bodies.settings.request_body == RequestMode::Stream && !(is_small && arriving.has_arrived())
}

/// Prepares a call without a body, which has no content coding either.
pub fn receive_empty(call: &mut Call, bodies: &RequestBodies) {
    if bodies.settings.parts.codings.decode_requests {
        call.parts.headers.remove(CONTENT_ENCODING);
    }
}
