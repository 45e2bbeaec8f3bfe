use std::rc::Rc;

use carat_wire::Scheme;
use http::HeaderValue;

use super::access::AccessEntry;
use super::request_dispatch::RequestDispatch;
use carat_body::response::{RangeRequest, ResponseEncoding};
use carat_exchange::{ConnectionState, SpoolReservation};

/// What the steps of a response know of its request, which the application has by then.
pub(super) struct RequestContext {
    pub(super) state: Rc<ConnectionState>,
    pub(super) dispatch: Rc<RequestDispatch>,
    pub(super) entry: AccessEntry,
    pub(super) is_http10: bool,
    /// Whether the client ends the connection with this request.
    pub(super) closes: bool,
    pub(super) scheme: Scheme,
    /// Where `force_tls` sends the client.
    pub(super) location: Option<Box<HeaderValue>>,
    /// Whether an error is a page.
    pub(super) gets_page: bool,
    pub(super) ranges: RangeRequest,
    /// `None` when responses are not compressed.
    pub(super) encoding: Option<ResponseEncoding>,
    /// What the body of the response takes of `spool_limit`.
    pub(super) spooled: Option<SpoolReservation>,
}
