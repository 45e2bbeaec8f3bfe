use std::rc::Rc;

use http::StatusCode;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use serde_json::json;

use crate::cable::server::Cable;
use carat_cable::{BroadcastOrder, CommandBody};
use carat_exchange::Peer;
use carat_wire::control::BROADCAST_LIMIT;

/// Longest request for a broadcast in bytes: the message, and the name of its stream.
const BROADCAST_BODY_LIMIT: usize = BROADCAST_LIMIT + 8 * 1024;

impl Cable {
    /// Broadcasts what a program that is no process of the server asks for. Returns the answer as JSON, or whose mistake it
    /// was and which.
    pub async fn order(
        self: &Rc<Self>,
        body: &mut Incoming,
    ) -> Result<String, (StatusCode, String)> {
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

    /// The application knows the broker that connects several servers.
    async fn order_everywhere(
        self: &Rc<Self>,
        order: &BroadcastOrder,
    ) -> Result<Option<usize>, (StatusCode, String)> {
        let body = CommandBody::Broadcast {
            stream: &order.stream,
            message: order.message.as_str(),
        };
        let peer = Rc::new(Peer::new(String::new(), true, 0, None));
        let memory = self.dispatch.dispatcher.client_memory.account();
        let result = self.command(body.to_json(), &peer, &memory).await;
        let lost = "the application did not pass it on: the log says why".to_owned();
        let result = result.ok_or((StatusCode::BAD_GATEWAY, lost))?;
        let broadcasts = result.broadcasts.iter();
        let reached = broadcasts.filter_map(|(stream, message)| {
            let (stream, message) = (stream.as_bytes(), message.as_bytes());
            self.broadcast(stream, message)
        });
        Ok(reached.reduce(|one, other| one + other))
    }
}
