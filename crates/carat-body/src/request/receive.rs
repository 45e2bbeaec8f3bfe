use std::rc::Rc;

use http::header::EXPECT;

use super::arriving::ArrivingBody;
use super::bodies::RequestBodies;
use super::received_body::ReceivedBody;
use super::transfer::transfer;
use super::transform::{RequestTransform, RequestTransforms};
use super::upload::{Upload, UploadProgress};
use crate::request::sinks::RequestSink;
use carat_exchange::{Call, CallBody, ConnectionState, Refusal};
use carat_settings::RequestMode;

/// Receives the bodies of requests.
pub struct RequestReceiver {
    bodies: RequestBodies,
    transforms: RequestTransforms,
}

impl RequestReceiver {
    /// A receiver that asks `transforms` in turn: the first decoder for a body is used, and the first sink.
    pub fn new(
        bodies: RequestBodies,
        transforms: impl IntoIterator<Item = Rc<dyn RequestTransform>>,
    ) -> RequestReceiver {
        let transforms = RequestTransforms(transforms.into_iter().collect());
        RequestReceiver { bodies, transforms }
    }

    /// Receives the body of `call`. Afterwards the call is as the application is to see it. A body that
    /// is forwarded while it arrives may still break off, which its [`UploadProgress`] reports.
    ///
    /// The future is moved several times. Most bodies are small and have arrived already: data that only other bodies
    /// need is boxed.
    pub async fn receive(
        &self,
        call: &mut Call,
        body: ReceivedBody,
        connection: &Rc<ConnectionState>,
    ) -> Result<Option<UploadProgress>, Refusal> {
        let bodies = &self.bodies;
        let decoder = self.transforms.decoder(&mut call.parts.headers)?;
        let mut arriving = ArrivingBody::new(body, connection, bodies.settings.max_body)?;
        let mut sink = RequestSink::of(call, self.transforms.sink(call, bodies), bodies);
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
}

/// Whether the application begins before the body is complete. A small body that has arrived already travels with the
/// request: to forward it separately would cost a round trip.
fn is_streamed(arriving: &mut ArrivingBody, bodies: &RequestBodies) -> bool {
    let inline_limit = bodies.settings.inline_body_limit as u64;
    let announced = arriving.announced();
    let is_small = announced.is_none_or(|bytes| bytes <= inline_limit);
    bodies.settings.request_body == RequestMode::Stream && !(is_small && arriving.has_arrived())
}
