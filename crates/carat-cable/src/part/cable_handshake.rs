use std::rc::Rc;

use crate::DeflateWindow;
use http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_PROTOCOL, SET_COOKIE,
    UPGRADE,
};
use http::response::Parts;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use tokio::sync::OwnedSemaphorePermit;

use carat_exchange::Peer;

/// The request by which a client opens a socket of the cable.
pub(super) struct CableHandshake {
    pub(super) accept: HeaderValue,
    pub(super) protocol: Option<&'static str>,
    /// The compression that is agreed upon, and the value of the header field that tells the client.
    pub(super) deflate: Option<(DeflateWindow, HeaderValue)>,
    /// The name of the session that the client wants to continue.
    pub(super) session: Option<Box<str>>,
    pub(super) peer: Rc<Peer>,
    /// A permit of `max_tunnels`, which the socket holds while it is open; `None` without that
    /// option.
    pub(super) permit: Option<OwnedSemaphorePermit>,
}

impl CableHandshake {
    /// The head of the response. It has the cookies of the application's response, and none of its
    /// other header fields.
    pub(super) fn head(&self, sent: &HeaderMap) -> Parts {
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
