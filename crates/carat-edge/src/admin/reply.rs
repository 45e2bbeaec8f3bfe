use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use http_body_util::Full;
use serde_json::json;

/// A response with a text of this media type.
pub(crate) fn response(
    status: StatusCode,
    kind: &'static str,
    text: impl Into<Full<Bytes>>,
) -> Response<Full<Bytes>> {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// A response that says no more than its status.
pub(crate) fn refusal(status: StatusCode) -> Response<Full<Bytes>> {
    response(status, "text/plain", format!("{status}\n"))
}

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
