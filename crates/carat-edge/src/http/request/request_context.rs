use std::rc::Rc;

use carat_wire::Scheme;
use http::HeaderValue;

use crate::http::request::access::AccessEntry;
use crate::http::request::cable_handshake::CableHandshake;
use crate::http::request::request_dispatch::RequestDispatch;
use carat_body::response::{RangeRequest, ResponseEncoding};
use carat_exchange::{ConnectionState, SpoolReservation};

/// What the steps of a response know of its request, which the application has by then.
pub(crate) struct RequestContext {
    pub(crate) state: Rc<ConnectionState>,
    pub(crate) dispatch: Rc<RequestDispatch>,
    pub(crate) entry: AccessEntry,
    pub(crate) is_http10: bool,
    /// Whether the client ends the connection with this request.
    pub(crate) closes: bool,
    pub(crate) scheme: Scheme,
    /// Set when the client asks for a socket of the cable.
    pub(crate) cable: Option<Box<CableHandshake>>,
    /// Where `force_tls` sends the client.
    pub(crate) location: Option<Box<HeaderValue>>,
    /// Whether an error is a page.
    pub(crate) gets_page: bool,
    pub(crate) ranges: RangeRequest,
    /// `None` when responses are not compressed.
    pub(crate) encoding: Option<ResponseEncoding>,
    /// What the body of the response takes of `spool_limit`.
    pub(crate) spooled: Option<SpoolReservation>,
}
