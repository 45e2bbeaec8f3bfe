use carat_wire::Scheme;
use http::HeaderValue;
use http::header::{LOCATION, STRICT_TRANSPORT_SECURITY};
use hyper::Response;

use crate::exchange::{Call, RequestTarget};
use crate::settings::Settings;

/// Sends clients of plain HTTP to HTTPS, and has browsers stay there: the option `force_tls`.
#[derive(Debug)]
pub(super) struct ForceTls {
    /// The paths that load balancers ask for in clear.
    exempt: Vec<String>,
    /// `Strict-Transport-Security` (RFC 6797).
    hsts: HeaderValue,
}

impl ForceTls {
    /// `None` when the option is off.
    pub(super) fn new(settings: &Settings) -> Option<ForceTls> {
        if !settings.force_tls {
            return None;
        }
        let path = |target: &String| target.split('?').next().unwrap_or_default().to_owned();
        let hsts = format!("max-age={}", settings.hsts_max_age);
        Some(ForceTls {
            exempt: settings.readiness_path.iter().map(path).collect(),
            hsts: HeaderValue::from_str(&hsts).expect("digits are a valid value"),
        })
    }

    /// Where the client of a request in clear is sent: to the same target at the default port of HTTPS.
    pub(super) fn location(&self, call: &Call) -> Option<Box<HeaderValue>> {
        if call.scheme() == Scheme::Https {
            return None;
        }
        let target = RequestTarget::of(call);
        if self.exempt.iter().any(|path| path == target.path) {
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
        Some(Box::new(value.expect("the guard passes no control bytes")))
    }

    /// Completes a response: to a request over HTTPS, and to one that is sent there.
    pub(super) fn complete<B>(
        &self,
        response: &mut Response<B>,
        scheme: Scheme,
        location: Option<Box<HeaderValue>>,
    ) {
        let headers = response.headers_mut();
        if let Some(location) = location {
            headers.insert(LOCATION, *location);
        } else if scheme == Scheme::Https {
            // The application may know better.
            headers
                .entry(STRICT_TRANSPORT_SECURITY)
                .or_insert_with(|| self.hsts.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use http::header::HOST;

    use super::*;
    use crate::exchange::Peer;

    fn forced() -> ForceTls {
        let mut settings = Settings::plain();
        settings.force_tls = true;
        settings.hsts_max_age = 60;
        settings.readiness_path = vec!["/up?full=1".to_owned()];
        ForceTls::new(&settings).expect("the option is on")
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
        let mut response = Response::new(());
        forced().complete(&mut response, Scheme::Https, None);
        let headers = response.headers();
        assert_eq!(headers[STRICT_TRANSPORT_SECURITY], "max-age=60");

        let mut response = Response::new(());
        let own = HeaderValue::from_static("max-age=1");
        response
            .headers_mut()
            .insert(STRICT_TRANSPORT_SECURITY, own);
        forced().complete(&mut response, Scheme::Https, None);
        let headers = response.headers();
        assert_eq!(headers[STRICT_TRANSPORT_SECURITY], "max-age=1");
    }
}
