use http::StatusCode;
use serde_json::json;
use tokio::sync::oneshot;

use crate::supervise::{Mailbox, Message, ProfileMessage, ProfileOrder};

/// Tells the supervisor when the client leaves before it has its profile.
struct ProfileLease(Mailbox);

impl Drop for ProfileLease {
    fn drop(&mut self) {
        self.0.send(Message::Profile(ProfileMessage::Abandoned));
    }
}

/// Has a worker profiled. Returns the status and the JSON of the response.
pub(super) async fn profile(mailbox: &Mailbox, order: ProfileOrder) -> (StatusCode, String) {
    // Dropped after the reply: whoever hears of the end sees that nobody waits.
    let _lease = ProfileLease(mailbox.clone());
    let (asker, reply) = oneshot::channel();
    mailbox.send(Message::Profile(ProfileMessage::Begin(order, asker)));
    match reply.await {
        Ok(Ok(profile)) => (StatusCode::OK, profile),
        Ok(Err(reason)) => (StatusCode::CONFLICT, json!({ "error": reason }).to_string()),
        Err(_) => {
            let reason = json!({ "error": "the server is about to exit" });
            (StatusCode::SERVICE_UNAVAILABLE, reason.to_string())
        }
    }
}
