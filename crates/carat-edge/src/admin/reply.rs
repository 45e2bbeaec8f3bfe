use http::StatusCode;
use serde_json::json;

pub(crate) use carat_http::{admin_refusal as refusal, admin_response as response};

/// The status and the JSON for a reply of the supervisor; without one, the server is about to exit.
pub(crate) fn outcome(reply: Option<Result<String, String>>) -> (StatusCode, String) {
    let (status, reason) = match reply {
        Some(Ok(json)) => return (StatusCode::OK, json),
        Some(Err(reason)) => (StatusCode::CONFLICT, reason),
        None => (
            StatusCode::SERVICE_UNAVAILABLE,
            "the server is about to exit".to_owned(),
        ),
    };
    (status, json!({ "error": reason }).to_string())
}
