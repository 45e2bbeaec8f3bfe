use std::rc::Rc;

use http::Method;
use http::request::Parts;

use super::Intake;
use crate::body::Spool;
use crate::http::Peer;

/// A request as the application is to see it, kept until it is answered: it may have to be asked twice.
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
    /// It is handed over while it arrives.
    Stream(Rc<Intake>),
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

    /// The body, when it is handed over while it arrives.
    pub(super) fn intake(&self) -> Option<&Rc<Intake>> {
        match &self.body {
            CallBody::Stream(intake) => Some(intake),
            CallBody::None | CallBody::Inline(_) | CallBody::Spooled(_) => None,
        }
    }

    /// The request is over, and nobody reads the rest of its body. Said before the answer is passed on, so that
    /// hyper knows whether the connection is kept.
    pub(super) fn leave_unread(&self) {
        if let Some(intake) = self.intake() {
            intake.close();
        }
    }

    /// Bytes of the body as it is handed to the application; `None` when nobody knows yet.
    pub(crate) fn body_length(&self) -> Option<u64> {
        match &self.body {
            CallBody::None => Some(0),
            CallBody::Inline(bytes) => Some(bytes.len() as u64),
            CallBody::Spooled(spool) => Some(spool.length()),
            CallBody::Stream(intake) => intake.length(),
        }
    }
}
