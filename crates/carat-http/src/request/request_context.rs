use std::rc::Rc;

use carat_cable::DeflateWindow;
use carat_wire::Scheme;
use http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_PROTOCOL, SET_COOKIE,
    UPGRADE,
};
use http::response::Parts;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use tokio::sync::OwnedSemaphorePermit;

use crate::request::access::AccessEntry;
use crate::request::request_dispatch::RequestDispatch;
use crate::request::request_slots::RequestSlots;
use carat_body::response::{RangeRequest, ResponseEncoding};
use carat_exchange::{ConnectionState, Peer, SpoolReservation};

/// The facts about a request that the steps of its response know, when the application has the request itself.
pub struct RequestContext {
    /// The connection, or the stream of HTTP/2.
    pub state: Rc<ConnectionState>,
    /// The way to the application.
    pub dispatch: Rc<RequestDispatch>,
    /// The line of the access log.
    pub entry: AccessEntry,
    /// The facts that parts remember.
    pub slots: RequestSlots,
    pub(crate) is_http10: bool,
    /// Whether the client ends the connection with this request.
    pub(crate) closes: bool,
    /// How the client reached the first server.
    pub scheme: Scheme,
    /// Set when the client asks for a socket of the cable.
    pub(crate) cable: Option<Box<CableHandshake>>,
    pub(crate) ranges: RangeRequest,
    /// `None` when responses are not compressed.
    pub(crate) encoding: Option<ResponseEncoding>,
    /// The bytes of `spool_limit` that the body of the response takes.
    pub(crate) spooled: Option<SpoolReservation>,
}

/// The request by which a client opens a socket of the cable.
pub(crate) struct CableHandshake {
    pub(crate) accept: HeaderValue,
    pub(crate) protocol: Option<&'static str>,
    /// The compression that is agreed upon, and the value of the header field that tells the client.
    pub(crate) deflate: Option<(DeflateWindow, HeaderValue)>,
    /// The session with which the client wants to go on.
    pub(crate) session: Option<Box<str>>,
    pub(crate) peer: Rc<Peer>,
    /// Held while the socket is open, if there may be only so many.
    pub(crate) permit: Option<OwnedSemaphorePermit>,
}

impl CableHandshake {
    /// The response. Of what the application has sent, it has the cookies.
    pub(crate) fn head(&self, sent: &HeaderMap) -> Parts {
        let (mut head, ()) = Response::new(()).into_parts();
        head.status = StatusCode::SWITCHING_PROTOCOLS;
        let headers = &mut head.headers;
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, self.accept.clone());
        if let Some(protocol) = self.protocol {
            headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(protocol));
        }
        if let Some((_, answer)) = &self.deflate {
            headers.insert(SEC_WEBSOCKET_EXTENSIONS, answer.clone());
        }
        for cookie in sent.get_all(SET_COOKIE) {
            headers.append(SET_COOKIE, cookie.clone());
        }
        head
    }
}
