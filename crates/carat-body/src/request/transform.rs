use std::rc::Rc;

use http::HeaderMap;

use super::arriving::ArrivingBody;
use super::bodies::RequestBodies;
use crate::request::sinks::{BodyTask, PartSink, RequestSink};
use carat_exchange::{Call, Refusal};

/// A part's transform of the bodies of requests. A part implements only the hooks that it needs: the defaults do
/// nothing.
pub trait RequestTransform {
    /// The decoder of a body with these header fields, `None` for a body that stays as it is. Changes the fields to
    /// describe a plain body of unknown length.
    fn decoder(&self, _fields: &mut HeaderMap) -> Result<Option<Box<dyn BodyDecoder>>, Refusal> {
        Ok(None)
    }

    /// The sink of a body that the application gets in several pieces. `None` for one that it gets as a whole.
    fn sink<'a>(&self, _call: &Call, _bodies: &'a RequestBodies) -> Option<Box<dyn PartSink + 'a>> {
        None
    }
}

/// The decoder of one body.
pub trait BodyDecoder {
    /// Copies the body to `sink`, decoded.
    fn decode<'a>(
        self: Box<Self>,
        arriving: &'a mut ArrivingBody,
        sink: &'a mut RequestSink<'_>,
    ) -> BodyTask<'a>;
}

/// The transforms of all parts. The first one that takes a body transforms it.
pub(super) struct RequestTransforms(pub(super) Box<[Rc<dyn RequestTransform>]>);

impl RequestTransforms {
    pub(super) fn decoder(
        &self,
        fields: &mut HeaderMap,
    ) -> Result<Option<Box<dyn BodyDecoder>>, Refusal> {
        for transform in &self.0 {
            if let Some(decoder) = transform.decoder(fields)? {
                return Ok(Some(decoder));
            }
        }
        Ok(None)
    }

    pub(super) fn sink<'a>(
        &self,
        call: &Call,
        bodies: &'a RequestBodies,
    ) -> Option<Box<dyn PartSink + 'a>> {
        let mut transforms = self.0.iter();
        transforms.find_map(|transform| transform.sink(call, bodies))
    }
}
