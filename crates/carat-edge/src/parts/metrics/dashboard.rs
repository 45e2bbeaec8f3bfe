use std::env;
use std::net::IpAddr;

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, LOCATION, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use serde_json::Value;

use crate::admin::reply::response;

/// The page may load its own style, script, and data, and nothing else. It takes no input.
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

/// Refuses a request for the dashboard, or for its data, whose Host may be a name that an attacker
/// has made resolve to this machine (DNS rebinding): pages of the attacker's site could then read
/// the response. `addresses` are those of the option `metrics`. A name of one word is allowed,
/// since the public DNS has none.
pub(super) fn refusal<B>(
    request: &Request<B>,
    addresses: &[String],
) -> Option<Response<Full<Bytes>>> {
    if !request.uri().path().starts_with("/dashboard") {
        return None;
    }
    let host = request.headers().get(HOST)?;
    let name = host_name(host.to_str().unwrap_or_default());
    let is_configured = |address: &String| {
        let place = address.strip_prefix("tcp://").map(host_name);
        place.is_some_and(|place| place.eq_ignore_ascii_case(name))
    };
    let is_local = name.to_ascii_lowercase().ends_with(".localhost");
    let is_word = !name.is_empty() && !name.contains('.');
    let is_known = name.parse::<IpAddr>().is_ok() || is_word || is_local;
    if is_known || addresses.iter().any(is_configured) {
        return None;
    }
    let reason =
        "open the dashboard by an IP address, by localhost, or by the name that `metrics` has\n";
    Some(response(StatusCode::FORBIDDEN, "text/plain", reason))
}

/// The host of `host:port` (RFC 3986, section 3.2.2), without the brackets of an IPv6 address.
fn host_name(authority: &str) -> &str {
    if let Some((address, _)) = authority
        .strip_prefix('[')
        .and_then(|it| it.split_once(']'))
    {
        return address;
    }
    authority
        .split_once(':')
        .map_or(authority, |(host, _)| host)
}

/// The dashboard's page, style, or script.
pub(super) fn page(path: &str) -> Option<Response<Full<Bytes>>> {
    let (kind, text) = match path {
        "/" => return Some(way_to_page()),
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

/// The response with the data that the dashboard shows.
pub(super) fn data(mut overview: Value) -> Response<Full<Bytes>> {
    overview["name"] = application_name().into();
    guarded("application/json", overview.to_string().into())
}

/// The name of the application, as `OpenTelemetry` has it: that of the variable, or else that of
/// the directory.
fn application_name() -> String {
    let given = env::var("OTEL_SERVICE_NAME");
    let given = given.ok().filter(|name| !name.is_empty());
    given.unwrap_or_else(|| {
        let directory = env::current_dir().unwrap_or_default();
        let name = directory.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    })
}

/// The redirection to the page. Its location is relative, because a proxy may have put a prefix
/// before the path.
fn way_to_page() -> Response<Full<Bytes>> {
    let mut response = response(StatusCode::FOUND, "text/plain", "see dashboard\n");
    let place = HeaderValue::from_static("dashboard");
    response.headers_mut().insert(LOCATION, place);
    response
}

fn guarded(kind: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = response(StatusCode::OK, kind, body);
    let fields = FIELDS.map(|(name, value)| (name, HeaderValue::from_static(value)));
    response.headers_mut().extend(fields);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(path: &str, host: &str) -> bool {
        let request = Request::get(path).header(HOST, host).body(());
        let addresses = ["tcp://Carat.example.com:9394".to_owned()];
        refusal(&request.expect("a request"), &addresses).is_some()
    }

    #[test]
    fn a_name_that_a_stranger_may_have_made_does_not_open_the_dashboard() {
        for host in [
            "evil.example",
            "evil.example:9394",
            "127.0.0.1.evil.example",
            "localhost.evil",
            "1.2.3.4.5:1",
            ":1",
            "",
        ] {
            assert!(is_refused("/dashboard.json", host), "{host}");
            assert!(is_refused("/dashboard", host), "{host}");
            assert!(!is_refused("/metrics", host), "{host}");
        }
        for host in [
            "127.0.0.1:9394",
            "[::1]:9394",
            "[fd00::7]",
            "localhost:9394",
            "a.localhost",
            "carat:9394",
            "carat.example.com:80",
        ] {
            assert!(!is_refused("/dashboard.json", host), "{host}");
        }
    }
}
