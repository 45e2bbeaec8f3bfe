use std::rc::Rc;

use http::StatusCode;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use serde_json::json;

use crate::http::cable::server::Cable;
use carat_cable::BroadcastOrder;
use carat_wire::control::BROADCAST_LIMIT;

/// Longest request for a broadcast in bytes: the message, and the name of its stream.
const BROADCAST_BODY_LIMIT: usize = BROADCAST_LIMIT + 8 * 1024;

impl Cable {
    /// Broadcasts what a program that is no process of the server asks for. Returns the answer as JSON, or whose mistake it
    /// was and which.
    pub(crate) async fn order(
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
        let (stream, message) = (order.stream.as_bytes(), order.message.as_str().as_bytes());
        let reached = self.broadcast(stream, message).unwrap_or_default();
        Ok(json!({ "subscriptions": reached }).to_string())
    }
}
