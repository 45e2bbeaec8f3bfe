use std::ops::ControlFlow;

use carat_wire::Scheme;
use http::header::{LOCATION, STRICT_TRANSPORT_SECURITY};
use http::{HeaderMap, HeaderValue, StatusCode};

use carat_exchange::{Call, Fault, PartRefusal, Refusal, RequestTarget};
use carat_http::{ArrivedRequest, ReadinessPaths, RequestContext, RequestStep};
use carat_settings::Settings;

/// The refusal of a request over plain HTTP. The response names the URL with HTTPS.
const TLS_REQUIRED: Refusal = Refusal::ByPart(&PartRefusal {
    status: StatusCode::PERMANENT_REDIRECT,
    reason: "this server is reached over HTTPS",
    fault: Fault::Client,
    retry_after: None,
});

/// The URL with HTTPS for the client of a refused request.
struct Location(HeaderValue);

/// Sends clients of plain HTTP to HTTPS, and has browsers stay there: the option `force_tls`.
pub(super) struct ForceTls {
    /// The paths that load balancers ask for over plain HTTP.
    exempt: ReadinessPaths,
    /// `Strict-Transport-Security` (RFC 6797). `None` when the option is off.
    hsts: Option<HeaderValue>,
}

impl ForceTls {
    pub(super) fn new(settings: &Settings) -> ForceTls {
        let hsts = settings.parts.site.force_tls.then(|| {
            let value = format!("max-age={}", settings.parts.site.hsts_max_age);
            HeaderValue::from_str(&value).expect("digits are a valid value")
        });
        ForceTls {
            exempt: ReadinessPaths::of(settings),
            hsts,
        }
    }

    /// Whether the option is on.
    pub(super) fn is_on(&self) -> bool {
        self.hsts.is_some()
    }

    /// Refuses a request over plain HTTP. The response names the URL with HTTPS.
    pub(super) fn check(
        &self,
        request: &mut ArrivedRequest,
        context: &mut RequestContext,
    ) -> RequestStep {
        let Some(location) = self.location(request.call()) else {
            return ControlFlow::Continue(());
        };
        context.slots.set(Location(location));
        context.refuse_if(true, TLS_REQUIRED)
    }

    /// The URL with HTTPS for a request over plain HTTP: the same target at the default port.
    /// `None` if the request is not to be refused.
    fn location(&self, call: &Call) -> Option<HeaderValue> {
        if self.hsts.is_none() || call.scheme() == Scheme::Https {
            return None;
        }
        let target = RequestTarget::of(call);
        if self.exempt.contains(target.path) {
            return None;
        }
        let mut location = [b"https://", target.server_name].concat();
        // `OPTIONS *` has no path.
        let path = Some(target.path).filter(|path| path.starts_with('/'));
        location.extend_from_slice(path.unwrap_or("/").as_bytes());
        if !target.query.is_empty() {
            location.push(b'?');
            location.extend_from_slice(target.query.as_bytes());
        }
        let value = HeaderValue::from_bytes(&location);
        Some(value.expect("the guard passes no control bytes"))
    }

    /// Completes the header fields of a response. A client of plain HTTP gets the URL with HTTPS; a
    /// browser that has come over HTTPS is told to stay there.
    pub(super) fn complete(&self, fields: &mut HeaderMap, context: &mut RequestContext) {
        if let Some(Location(location)) = context.slots.take() {
            fields.insert(LOCATION, location);
        } else if context.scheme == Scheme::Https {
            self.keep_browsers(fields);
        }
    }

    fn keep_browsers(&self, headers: &mut HeaderMap) {
        if let Some(hsts) = &self.hsts {
            // A value that the application has set stays.
            let field = headers.entry(STRICT_TRANSPORT_SECURITY);
            field.or_insert_with(|| hsts.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use http::header::HOST;

    use super::*;
    use carat_exchange::Peer;

    fn forced() -> ForceTls {
        let mut settings = Settings::plain();
        settings.parts.site.force_tls = true;
        settings.parts.site.hsts_max_age = 60;
        settings.readiness_path = vec!["/up?full=1".to_owned()];
        ForceTls::new(&settings)
    }

    fn call(target: &str, scheme: Scheme) -> Call {
        let mut call = Call::plain("OPTIONS", target);
        let host = HeaderValue::from_static("example.org:9292");
        call.parts.headers.insert(HOST, host);
        let mut peer = Peer::new(String::new(), false, 9292, None);
        peer.scheme = scheme;
        call.peer = Rc::new(peer);
        call
    }

    fn location(target: &str, scheme: Scheme) -> Option<String> {
        let location = forced().location(&call(target, scheme))?;
        Some(location.to_str().expect("text").to_owned())
    }

    #[test]
    fn a_request_in_clear_is_sent_to_the_same_target_over_https() {
        for (target, expected) in [
            ("/a%20b?c=d", "https://example.org/a%20b?c=d"),
            ("http://other.example:80/x", "https://other.example/x"),
            ("*", "https://example.org/"),
        ] {
            assert_eq!(location(target, Scheme::Http).as_deref(), Some(expected));
            assert_eq!(location(target, Scheme::Https), None);
        }
    }

    #[test]
    fn the_check_of_a_load_balancer_stays_in_clear() {
        assert_eq!(location("/up", Scheme::Http), None);
        assert!(location("/up/x", Scheme::Http).is_some());
    }

    #[test]
    fn the_application_may_set_the_header_of_browsers_itself() {
        let mut headers = HeaderMap::new();
        forced().keep_browsers(&mut headers);
        assert_eq!(headers[STRICT_TRANSPORT_SECURITY], "max-age=60");

        let own = HeaderValue::from_static("max-age=1");
        headers.insert(STRICT_TRANSPORT_SECURITY, own);
        forced().keep_browsers(&mut headers);
        assert_eq!(headers[STRICT_TRANSPORT_SECURITY], "max-age=1");
    }
}
