use std::ops::ControlFlow;
use std::rc::Rc;

use http::header::{
    ACCEPT_ENCODING, CONNECTION, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Version};
use tokio::sync::Semaphore;

use crate::part::cable_handshake::CableHandshake;
use crate::part::server::{Cable, is_result};
use crate::part::socket::CableSocket;
use crate::part::socket_client::SocketClient;
use crate::{DeflateWindow, accept_key};
use carat_exchange::{Refusal, Reply, ReplyBody, Takeover, Tunnel, TunnelApplication};
use carat_http::{ArrivedRequest, RequestAnswer, RequestContext, RequestStep};

/// The subprotocols that clients of Rails' Action Cable ask for.
const PROTOCOLS: [&str; 2] = ["actioncable-v1-json", "actioncable-unsupported"];
/// The subprotocol that needs a history of broadcasts.
const EXTENDED_PROTOCOL: &str = "actioncable-v1-ext-json";
/// The version of the WebSocket protocol (RFC 6455).
const VERSION: &str = "13";
/// The header field with the name of the session to restore, as `AnyCable` spells it.
const RESTORED_SESSION: &str = "x-anycable-restore-sid";
/// The most bytes of a session's name. A longer name was not given by this server, and is ignored.
const SESSION_NAME_LIMIT: usize = 32;

impl Cable {
    /// Sends the request to the application if it is a WebSocket handshake at the path of the
    /// cable.
    pub(super) fn ask_for_socket(
        self: &Rc<Self>,
        request: &mut ArrivedRequest,
        context: &mut RequestContext,
    ) -> RequestStep {
        let call = request.call();
        let headers = &call.parts.headers;
        let is_handshake = call.parts.method == Method::GET
            && call.parts.version > Version::HTTP_10
            && is_websocket(headers);
        if !is_handshake || !self.handshakes.matches(call.parts.uri.path()) {
            return ControlFlow::Continue(());
        }
        let key = headers.get(SEC_WEBSOCKET_KEY);
        let accept = key.and_then(|key| accept_key(key.as_bytes()));
        let accept = accept.and_then(|accept| HeaderValue::try_from(accept).ok());
        let version = headers.get(SEC_WEBSOCKET_VERSION);
        let is_known = version.is_some_and(|version| version == VERSION);
        let (true, Some(accept)) = (is_known, accept) else {
            let reply = self.dispatch.own_reply(refused(is_known));
            return ControlFlow::Break(RequestAnswer::Found(Box::new(reply)));
        };
        let permit = self.permits.clone().map(Semaphore::try_acquire_owned);
        let Ok(permit) = permit.transpose() else {
            return context.refuse_if(true, Refusal::TooManyTunnels);
        };
        let protocol = protocol_of(headers, self.hub.history().is_some());
        let deflate = self.compresses.then(|| deflate_of(headers)).flatten();
        let mut call = request.take_call();
        call.is_from_part = true;
        call.parts.headers.remove(ACCEPT_ENCODING);
        context.slots.set(CableHandshake {
            accept,
            protocol,
            deflate,
            session: protocol.and_then(|_| session_of(&call.parts)),
            peer: Rc::clone(&call.peer),
            permit,
        });
        let cable = Rc::clone(self);
        ControlFlow::Break(RequestAnswer::Later(Box::pin(async move {
            // The semaphore is never closed, so this is no error.
            let _permit = cable.requests.acquire().await;
            cable.dispatch.dispatch(call)?.await
        })))
    }

    /// Opens the socket if the application lets the client in. Returns whether the connection is
    /// taken over: then the takeover writes the head of the response, and there is no other
    /// response.
    pub(super) async fn open(
        self: &Rc<Self>,
        handshake: CableHandshake,
        reply: &mut Result<Reply, Refusal>,
        context: &mut RequestContext,
    ) -> bool {
        let is_let_in = |reply: &Reply| reply.response.status().is_success() && is_result(reply);
        if !reply.as_ref().is_ok_and(is_let_in) || !context.state.allows_takeover() {
            return false;
        }
        let taken = std::mem::replace(reply, Err(Refusal::InvalidResponse));
        let Ok(taken) = taken else { return false };
        let mut entry = std::mem::take(&mut context.entry);
        entry.timed(taken.times);
        let head = handshake.head(taken.response.headers());
        let Some(result) = self.result_of(taken).await else {
            context.entry = entry;
            return false;
        };
        let mut place = self.places.open();
        if let Some(permit) = handshake.permit {
            place.keep(permit);
        }
        let deflate = handshake.deflate.map(|(window, _)| window);
        let client = SocketClient {
            peer: handshake.peer,
            memory: Rc::clone(context.state.memory()),
        };
        let socket = if handshake.protocol == Some(EXTENDED_PROTOCOL) {
            let kept = match handshake.session {
                Some(name) => self.sessions.claim(&name, &result).await,
                None => None,
            };
            CableSocket::open_extended(self, result, kept, deflate, client)
        } else {
            CableSocket::open(self, result, deflate, client)
        };
        entry.responded(StatusCode::SWITCHING_PROTOCOLS);
        entry.opened();
        context.state.take_over(Takeover {
            tunnel: Tunnel {
                application: TunnelApplication::Edge(Box::new(socket)),
                is_raw: false,
                place,
            },
            head: Some(head),
            log: Box::new(entry),
        });
        true
    }
}

/// Whether the request asks for a WebSocket (RFC 6455, section 4.2.1).
fn is_websocket(headers: &HeaderMap) -> bool {
    names(headers, &UPGRADE, "websocket") && names(headers, &CONNECTION, "upgrade")
}

/// Whether a header field lists this token.
fn names(headers: &HeaderMap, field: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(field).iter();
    let mut tokens = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    tokens.any(|it| it.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
}

/// The first protocol of the client that the server knows.
fn protocol_of(headers: &HeaderMap, has_history: bool) -> Option<&'static str> {
    let extended = has_history.then_some(EXTENDED_PROTOCOL);
    let known = || PROTOCOLS.into_iter().chain(extended);
    let named = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let named = named.filter_map(|value| value.to_str().ok());
    let mut named = named.flat_map(|value| value.split(',')).map(str::trim);
    named.find_map(|name| known().find(|known| *known == name))
}

/// The first compression that the client offers and the server has, and the value of the header
/// field that tells the client.
fn deflate_of(headers: &HeaderMap) -> Option<(DeflateWindow, HeaderValue)> {
    let offers = headers.get_all(SEC_WEBSOCKET_EXTENSIONS).iter();
    let offers = offers.filter_map(|value| value.to_str().ok());
    let (window, answer) = DeflateWindow::negotiate(offers)?;
    Some((window, HeaderValue::try_from(answer).ok()?))
}

/// The name of the session that a client wants to continue: from a header field, or `sid` in the
/// query.
fn session_of(parts: &Parts) -> Option<Box<str>> {
    let field = parts.headers.get(RESTORED_SESSION);
    let field = field.and_then(|value| value.to_str().ok());
    let query = || {
        let query = parts.uri.query()?;
        query.split('&').find_map(|pair| pair.strip_prefix("sid="))
    };
    let name = field.or_else(query)?;
    (1..=SESSION_NAME_LIMIT)
        .contains(&name.len())
        .then(|| name.into())
}

/// The response to a handshake that fails (RFC 6455, section 4.2.2). `is_known` says whether the
/// version is 13: if so, the key is invalid; if not, the version is not supported.
fn refused(is_known: bool) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::empty());
    if is_known {
        *response.status_mut() = StatusCode::BAD_REQUEST;
        return response;
    }
    *response.status_mut() = StatusCode::UPGRADE_REQUIRED;
    let headers = response.headers_mut();
    headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static(VERSION));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upgrade_to_a_websocket_names_both_in_their_fields() {
        for (upgrade, connection, expected) in [
            ("websocket", "Upgrade", true),
            ("h2c, WebSocket", "keep-alive, upgrade", true),
            ("websocket2", "Upgrade", false),
            ("websocket", "close", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(UPGRADE, HeaderValue::from_static(upgrade));
            headers.insert(CONNECTION, HeaderValue::from_static(connection));
            assert_eq!(is_websocket(&headers), expected, "{upgrade} {connection}");
        }
    }

    #[test]
    fn the_first_protocol_of_the_client_that_is_known_is_chosen() {
        for (named, chosen) in [
            (
                &["actioncable-v1-json, actioncable-unsupported"][..],
                Some(PROTOCOLS[0]),
            ),
            (
                &["actioncable-unsupported,actioncable-v1-json"],
                Some(PROTOCOLS[1]),
            ),
            (&["graphql-ws", "actioncable-v1-json"], Some(PROTOCOLS[0])),
            (
                &["actioncable-v1-ext-json", "actioncable-v1-json"],
                Some(PROTOCOLS[0]),
            ),
            (&["actioncable-v2"], None),
            (&[], None),
        ] {
            let mut headers = HeaderMap::new();
            for value in named {
                headers.append(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(value));
            }
            assert_eq!(protocol_of(&headers, false), chosen, "{named:?}");
            let first = named.first().is_some_and(|name| *name == EXTENDED_PROTOCOL);
            let chosen = if first {
                Some(EXTENDED_PROTOCOL)
            } else {
                chosen
            };
            assert_eq!(protocol_of(&headers, true), chosen, "{named:?}");
        }
    }

    #[test]
    fn the_session_is_named_in_a_field_or_in_the_query() {
        let name = "5".repeat(SESSION_NAME_LIMIT);
        let session = |target: &str, field: Option<&str>| {
            let mut request = http::Request::builder().uri(target);
            if let Some(field) = field {
                request = request.header(RESTORED_SESSION, field);
            }
            let (parts, ()) = request.body(()).expect("a request").into_parts();
            session_of(&parts)
        };
        let target = format!("/cable?name=ann&sid={name}");
        assert_eq!(session(&target, None).as_deref(), Some(&*name));
        assert_eq!(session("/cable?sid=a", Some("b")).as_deref(), Some("b"));
        for target in [
            "/cable",
            "/cable?xsid=a",
            "/cable?sid=",
            &format!("{target}6"),
        ] {
            assert_eq!(session(target, None), None, "{target}");
        }
    }
}
