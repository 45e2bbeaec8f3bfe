use http::StatusCode;
use serde_json::json;
use tokio::sync::oneshot;

use crate::supervise::{ControlRequest, Mailbox, Message};

/// Passes a request to the supervisor. Returns the status and the JSON of the response.
pub(super) async fn ask(mailbox: &Mailbox, request: ControlRequest) -> (StatusCode, String) {
    let (asker, reply) = oneshot::channel();
    mailbox.send(Message::Control(request, asker));
    match reply.await {
        Ok(Ok(done)) => (StatusCode::OK, done.to_string()),
        Ok(Err(reason)) => (StatusCode::CONFLICT, json!({ "error": reason }).to_string()),
        Err(_) => {
            let reason = json!({ "error": "the server is about to exit" });
            (StatusCode::SERVICE_UNAVAILABLE, reason.to_string())
        }
    }
}
