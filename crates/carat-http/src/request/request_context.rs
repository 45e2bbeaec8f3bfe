use std::rc::Rc;

use carat_wire::Scheme;

use crate::request::access::AccessEntry;
use crate::request::request_dispatch::RequestDispatch;
use crate::request::request_slots::RequestSlots;
use carat_body::response::RangeRequest;
use carat_exchange::{ConnectionState, SpoolReservation};

/// The facts about a request that are kept for the steps of its response, while the application has the request itself.
pub struct RequestContext {
    /// The state of the connection, or of the stream that the request came on.
    pub state: Rc<ConnectionState>,
    /// The dispatch of requests to the application.
    pub dispatch: Rc<RequestDispatch>,
    /// The line of the access log.
    pub entry: AccessEntry,
    /// The facts that parts remember.
    pub slots: RequestSlots,
    pub(crate) is_http10: bool,
    /// Whether the client ends the connection with this request.
    pub(crate) closes: bool,
    /// The scheme by which the client reached the first server, such as a proxy.
    pub scheme: Scheme,
    /// The ranges that the client wants.
    pub ranges: RangeRequest,
    /// The bytes of `spool_limit` that the body of the response takes.
    pub(crate) spooled: Option<SpoolReservation>,
}
