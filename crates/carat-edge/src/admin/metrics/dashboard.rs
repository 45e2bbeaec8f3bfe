use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::Full;
use serde_json::Value;

use crate::admin::reply::response;

/// The page loads its own style, script, and data, and nothing else; it takes no input.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const FIELDS: [(HeaderName, &str); 5] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// The dashboard's page, style, or script.
pub(super) fn page(path: &str) -> Option<Response<Full<Bytes>>> {
    let (kind, text) = match path {
        "/dashboard" => (
            "text/html; charset=utf-8",
            include_str!("dashboard/dashboard.html"),
        ),
        "/dashboard.css" => ("text/css", include_str!("dashboard/dashboard.css")),
        "/dashboard.js" => ("text/javascript", include_str!("dashboard/dashboard.js")),
        _ => return None,
    };
    Some(guarded(kind, Bytes::from_static(text.as_bytes())))
}

/// What the page shows.
pub(super) fn data(overview: &Value) -> Response<Full<Bytes>> {
    guarded("application/json", overview.to_string().into())
}

fn guarded(kind: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = response(StatusCode::OK, kind, body);
    let fields = FIELDS.map(|(name, value)| (name, HeaderValue::from_static(value)));
    response.headers_mut().extend(fields);
    response
}
