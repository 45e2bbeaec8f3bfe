use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use carat_guard::HeaderLimits;
use http::{Request, Response};
use tokio::sync::Semaphore;

use crate::request::TrackedBody;
use crate::time_limits::{ActiveConnections, Deadlines};
use carat_body::request::ReceivedBody;
use carat_exchange::{ClientMemory, ConnectionState, Peer, Refusal};
use carat_log::Log;
use carat_settings::Settings;

/// The core as a protocol uses it: the path of a request, and the limits on clients.
pub trait ProtocolCore {
    /// The settings from the configuration.
    fn settings(&self) -> &Settings;

    /// The log of the server.
    fn log(&self) -> &Log;

    /// Passes a request along the path that all requests take.
    fn serve(
        &self,
        request: Request<ReceivedBody>,
        peer: &Rc<Peer>,
        state: &Rc<ConnectionState>,
    ) -> ServedRequest;

    /// Refuses a request that no step has seen.
    fn refuse(
        &self,
        request: Request<ReceivedBody>,
        peer: &Rc<Peer>,
        state: &Rc<ConnectionState>,
        refusal: Refusal,
    ) -> ServedRequest;

    /// The response to bytes that are too malformed to be a request.
    fn refused(
        &self,
        refusal: Refusal,
        peer: &Rc<Peer>,
        state: &Rc<ConnectionState>,
    ) -> Response<TrackedBody>;

    /// The limits on the headers of a request.
    fn header_limits(&self) -> HeaderLimits;

    /// The memory that clients make the edge hold.
    fn client_memory(&self) -> &Rc<ClientMemory>;

    /// The deadlines of clients.
    fn deadlines(&self) -> &Rc<Deadlines>;

    /// The connections that may have to end when memory is short.
    fn active(&self) -> &ActiveConnections;

    /// The permits for files of responses, beyond the one file of each connection.
    fn further_replies(&self) -> &Arc<Semaphore>;

    /// Whether the server accepts no more requests.
    fn is_draining(&self) -> bool;

    /// Whether the server drains, and gives clients no more time for their first requests.
    fn are_first_requests_over(&self) -> bool;

    /// Whether clients are to go elsewhere with their next request.
    fn turns_away(&self) -> bool;
}

/// The future of the response to a request.
pub type ServedRequest = Pin<Box<dyn Future<Output = Result<Response<TrackedBody>, Infallible>>>>;
