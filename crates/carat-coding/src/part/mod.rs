//! The content codings as a part of the edge: the options `compress` and `decode_requests`.

mod compressible;
mod decode;
mod encode;
mod encoded;
mod encoders;

use std::rc::Rc;

use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use http::{HeaderValue, Response, StatusCode};

use self::decode::Decoders;
use self::encode::ResponseEncoding;
use self::encoders::Encoders;
use crate::DecodeLimits;
use carat_body::request::RequestTransform;
use carat_body::response::ClientBody;
use carat_exchange::{Call, Refusal, Reply, ReplyBody};
use carat_http::{ArrivedRequest, EdgeCore, Part, PartStep, RequestContext, SlowBody, SlowReply};

/// The codings that a request body may have, which a 415 response names (RFC 9110 15.5.16).
const DECODED_CODINGS: &str = "gzip, deflate, br, zstd";

/// The compression of responses, and the decoding of requests.
struct CodingsPart {
    /// `None` without the option `compress`.
    encoders: Option<Encoders>,
    /// `None` without the option `decode_requests`.
    decoders: Option<Rc<Decoders>>,
}

/// The part; `None` if neither option is on.
pub fn part(core: &EdgeCore) -> Option<Box<dyn Part>> {
    let settings = &core.settings.parts.codings;
    let decoders = settings.decode_requests.then(|| {
        let limits = DecodeLimits {
            size: settings.max_decoded_body,
            ratio: settings.max_decode_ratio,
        };
        Rc::new(Decoders { limits })
    });
    let encoders = Encoders::new(&core.settings, &core.log);
    let is_on = encoders.is_some() || decoders.is_some();
    is_on.then(|| Box::new(CodingsPart { encoders, decoders }) as Box<dyn Part>)
}

impl Part for CodingsPart {
    fn name(&self) -> &'static str {
        "codings"
    }

    fn begin(&self, call: &mut Call, context: &mut RequestContext) {
        if self.encoders.is_none() {
            return;
        }
        let encoding = ResponseEncoding::negotiate(call);
        if encoding != ResponseEncoding::default() {
            context.slots.set(encoding);
        }
        // A date in If-Range does not say whether the client has bytes of the plain content, or of
        // a coding of it.
        if call.parts.headers.contains_key(ACCEPT_ENCODING) {
            context.ranges.distrust_dates();
        }
    }

    fn answer(&self, request: &mut ArrivedRequest, _: &mut RequestContext) -> PartStep {
        if self.decoders.is_some() {
            // A request without a body has no coding, either.
            request.call().parts.headers.remove(CONTENT_ENCODING);
        }
        PartStep::Next
    }

    fn reply<'a>(
        &'a self,
        reply: &'a mut Result<Reply, Refusal>,
        context: &'a mut RequestContext,
    ) -> Option<SlowReply<'a>> {
        if let (Some(encoders), Ok(reply)) = (&self.encoders, reply) {
            encoding(context).declare(&mut reply.response, encoders);
        }
        None
    }

    fn body<'a>(
        &'a self,
        response: &'a mut Response<ClientBody>,
        context: &'a mut RequestContext,
    ) -> Option<SlowBody<'a>> {
        let encoding = encoding(context);
        encoding.apply(response, self.encoders.as_ref()?, context.state.memory())
    }

    fn refused(
        &self,
        refusal: Refusal,
        response: &mut Response<ReplyBody>,
        _: &mut RequestContext,
    ) {
        if refusal.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            let codings = HeaderValue::from_static(DECODED_CODINGS);
            response.headers_mut().insert(ACCEPT_ENCODING, codings);
        }
    }

    fn transform(&self) -> Option<Rc<dyn RequestTransform>> {
        let decoders = self.decoders.as_ref().map(Rc::clone)?;
        Some(decoders)
    }
}

fn encoding(context: &mut RequestContext) -> ResponseEncoding {
    let encoding = context.slots.get::<ResponseEncoding>();
    encoding.copied().unwrap_or_default()
}
