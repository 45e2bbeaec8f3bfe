//! Forms as a part of the edge: the option `multipart`.

mod form;

use std::rc::Rc;

use self::form::Form;
use crate::FormLimits;
use carat_body::request::{PartSink, RequestBodies, RequestTransform};
use carat_exchange::Call;
use carat_http::{EdgeCore, Part};
use carat_settings::Multipart;

/// The part that takes the files out of forms.
struct MultipartPart(Rc<Forms>);

/// The transformation of forms within these limits.
struct Forms(FormLimits);

/// The part; `None` when the application takes the files out itself.
pub fn part(core: &EdgeCore) -> Option<Box<dyn Part>> {
    let settings = &core.settings.parts.multipart;
    let limits = FormLimits {
        parts: settings.max_parts,
        files: settings.max_files,
        part_header: settings.max_part_header,
        field_bytes: settings.max_field_bytes,
    };
    match settings.parser {
        Multipart::App => None,
        Multipart::Edge => Some(Box::new(MultipartPart(Rc::new(Forms(limits))))),
    }
}

impl Part for MultipartPart {
    fn name(&self) -> &'static str {
        "multipart"
    }

    fn transform(&self) -> Option<Rc<dyn RequestTransform>> {
        let forms = Rc::clone(&self.0);
        Some(forms)
    }
}

impl RequestTransform for Forms {
    fn sink<'a>(&self, call: &Call, bodies: &'a RequestBodies) -> Option<Box<dyn PartSink + 'a>> {
        let form = Form::of(call, self.0, bodies)?;
        Some(Box::new(form))
    }
}
