use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use http_body_util::Full;

/// A response to a request of an operator, with a text of this media type.
pub fn admin_response(
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

/// A response to an operator that says no more than its status.
pub fn admin_refusal(status: StatusCode) -> Response<Full<Bytes>> {
    admin_response(status, "text/plain", format!("{status}\n"))
}
