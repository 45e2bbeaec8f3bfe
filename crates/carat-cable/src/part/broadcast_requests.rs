use std::rc::Rc;

use bytes::Bytes;
use http::header::{ALLOW, AUTHORIZATION, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use ring::hmac;
use serde_json::json;

use crate::part::server::Cable;
use crate::part::socket_client::SocketClient;
use crate::{BroadcastOrder, CommandBody};
use carat_exchange::Peer;
use carat_http::{AdminDoor, admin_refusal, admin_response};
use carat_wire::control::PART_CONTENT_LIMIT;

/// The longest request for a broadcast in bytes: the message, and the name of its stream.
const BROADCAST_BODY_LIMIT: usize = PART_CONTENT_LIMIT + 8 * 1024;

/// The path at which programs ask for a broadcast.
pub(super) const BROADCAST_PATH: &str = "/broadcast";

impl Cable {
    /// Answers a program that asks for a broadcast. A request on a TCP port needs the secret of the
    /// option `cable_token`.
    pub(super) async fn answer_program(
        self: &Rc<Self>,
        request: &mut Request<Incoming>,
        door: AdminDoor,
    ) -> Response<Full<Bytes>> {
        let is_port = door == AdminDoor::Port;
        let token = self.token.as_deref();
        if is_port && token.is_none() {
            return admin_refusal(StatusCode::NOT_FOUND);
        }
        if *request.method() != Method::POST {
            let refusal = admin_refusal(StatusCode::METHOD_NOT_ALLOWED);
            return with_field(refusal, ALLOW, "POST");
        }
        if is_port && !token.is_some_and(|token| names_token(request.headers(), token)) {
            let refusal = admin_refusal(StatusCode::UNAUTHORIZED);
            return with_field(refusal, WWW_AUTHENTICATE, "Bearer");
        }
        match self.order(request.body_mut()).await {
            Ok(json) => admin_response(StatusCode::OK, "application/json", json),
            Err((status, reason)) if is_port => {
                admin_response(status, "text/plain", format!("{reason}\n"))
            }
            Err((_, reason)) => {
                let json = json!({ "error": reason }).to_string();
                admin_response(StatusCode::CONFLICT, "application/json", json)
            }
        }
    }

    /// Broadcasts a message for a program outside of the server. Returns the answer as JSON. An error has a status,
    /// which says whose mistake it was, and the reason.
    async fn order(self: &Rc<Self>, body: &mut Incoming) -> Result<String, (StatusCode, String)> {
        let body = Limited::new(body, BROADCAST_BODY_LIMIT).collect().await;
        let body = body.map_err(|error| {
            let status = if error.is::<LengthLimitError>() {
                StatusCode::PAYLOAD_TOO_LARGE
            } else {
                StatusCode::BAD_REQUEST
            };
            (status, error.to_string())
        })?;
        let order = BroadcastOrder::parse(&body.to_bytes());
        let order = order.map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
        let reached = if self.has_broker && !order.local {
            self.order_everywhere(&order).await?
        } else {
            let (stream, message) = (order.stream.as_bytes(), order.message.as_str());
            self.broadcast(stream, message.as_bytes())
        };
        Ok(json!({ "subscriptions": reached }).to_string())
    }

    /// Has the application pass a broadcast to the broker, which connects several servers: only the application knows
    /// the broker.
    async fn order_everywhere(
        self: &Rc<Self>,
        order: &BroadcastOrder,
    ) -> Result<Option<usize>, (StatusCode, String)> {
        let body = CommandBody::Broadcast {
            stream: &order.stream,
            message: order.message.as_str(),
        };
        let program = SocketClient {
            peer: Rc::new(Peer::new(String::new(), true, 0, None)),
            memory: self.dispatch.account(),
        };
        let result = self.command(body.to_json(), &program).await;
        let lost =
            "the application did not pass the broadcast on: the server's log says why".to_owned();
        let result = result.ok_or((StatusCode::BAD_GATEWAY, lost))?;
        let broadcasts = result.broadcasts.iter();
        let reached = broadcasts.filter_map(|(stream, message)| {
            let (stream, message) = (stream.as_bytes(), message.as_bytes());
            self.broadcast(stream, message)
        });
        Ok(reached.reduce(|one, other| one + other))
    }
}

fn with_field(
    mut response: Response<Full<Bytes>>,
    name: HeaderName,
    value: &'static str,
) -> Response<Full<Bytes>> {
    let value = HeaderValue::from_static(value);
    response.headers_mut().insert(name, value);
    response
}

/// Whether the client has the token (RFC 6750, section 2.1). How long the answer takes says nothing about the token.
fn names_token(headers: &HeaderMap, token: &str) -> bool {
    let credentials = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
    let Some((scheme, named)) = credentials.and_then(|it| it.split_at_checked("Bearer ".len()))
    else {
        return false;
    };
    let key = hmac::Key::new(hmac::HMAC_SHA256, token.as_bytes());
    let tag = hmac::sign(&key, token.as_bytes());
    scheme.eq_ignore_ascii_case(b"Bearer ") && hmac::verify(&key, named, tag.as_ref()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_all_that_follows_the_scheme() {
        let names = |credentials: &str| {
            let mut headers = HeaderMap::new();
            let credentials = HeaderValue::from_str(credentials).expect("a value");
            headers.insert(AUTHORIZATION, credentials);
            names_token(&headers, "secret")
        };
        assert!(names("Bearer secret") && names("bearer secret"));
        for credentials in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer secre",
            "Bearer secrets",
            "Basic secret",
        ] {
            assert!(!names(credentials), "{credentials}");
        }
        assert!(!names_token(&HeaderMap::new(), "secret"));
    }
}
