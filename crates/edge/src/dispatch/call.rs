use std::rc::Rc;

use http::Method;
use http::request::Parts;

use crate::body::Spool;
use crate::http::Peer;

/// A request that has been received whole, kept until it is answered: it may have to be asked twice.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) parts: Parts,
    pub(crate) peer: Rc<Peer>,
    pub(crate) body: CallBody,
    /// The files that were taken out of the body; `None` for one that was put back.
    pub(crate) files: Vec<Option<Spool>>,
}

/// The body of a received request.
#[derive(Debug)]
pub(crate) enum CallBody {
    /// The request has none, or one without a byte.
    None,
    Inline(Vec<u8>),
    Spooled(Spool),
}

impl Call {
    /// A request without a body.
    pub(crate) fn new(parts: Parts, peer: Rc<Peer>) -> Call {
        Call {
            parts,
            peer,
            body: CallBody::None,
            files: Vec::new(),
        }
    }

    /// Whether the application may be asked again after it has begun (RFC 9110 9.2.1).
    pub(crate) fn is_safe(&self) -> bool {
        matches!(
            self.parts.method,
            Method::GET | Method::HEAD | Method::OPTIONS
        )
    }

    /// Bytes of the body as it is handed to the application.
    pub(crate) fn body_length(&self) -> u64 {
        match &self.body {
            CallBody::None => 0,
            CallBody::Inline(bytes) => bytes.len() as u64,
            CallBody::Spooled(spool) => spool.length(),
        }
    }
}
