use std::rc::Rc;
use std::time::Duration;

use http::header::{HOST, LOCATION, USER_AGENT};
use http::{HeaderMap, StatusCode, Uri};
use tokio::time::timeout;

use carat_dispatch::{Dispatcher, Lane};
use carat_exchange::{Call, MemoryAccount, Peer};
use carat_http::{Part, PartList};
use carat_settings::Settings;
use carat_wire::Scheme;

/// The host that a check request names.
const SELF: &str = "localhost";

/// Sends each request of `restart_check` to a worker on trial. An error says which request failed, and how.
pub(crate) async fn check_worker(
    dispatcher: Rc<Dispatcher>,
    lane: Rc<Lane>,
    settings: Rc<Settings>,
    scheme: Scheme,
    memory: Rc<MemoryAccount>,
) -> Result<(), String> {
    let trial = WorkerTrial {
        dispatcher,
        lane,
        memory,
        limit: settings.boot_timeout,
    };
    for target in &settings.restart_check {
        let result = trial.check(target, scheme).await;
        result.map_err(|how| format!("restart_check {target}: {how}"))?;
    }
    Ok(())
}

/// The scheme of clients' requests: HTTPS if no client can use unencrypted HTTP.
pub(crate) fn client_scheme(parts: &PartList) -> Scheme {
    if parts.iter().any(Part::demands_https) {
        Scheme::Https
    } else {
        Scheme::Http
    }
}

/// The trial of a worker.
struct WorkerTrial {
    dispatcher: Rc<Dispatcher>,
    lane: Rc<Lane>,
    memory: Rc<MemoryAccount>,
    limit: Duration,
}

impl WorkerTrial {
    /// Sends a request. If the application redirects it to HTTPS, sends it again as a proxy would pass on an HTTPS
    /// request.
    async fn check(&self, target: &str, scheme: Scheme) -> Result<(), String> {
        let (status, headers) = self.ask(target, scheme).await?;
        match redirect(target, scheme, status, &headers) {
            Redirect::None => judge(status),
            Redirect::Https if scheme == Scheme::Http => {
                let (status, headers) = self.ask(target, Scheme::Https).await?;
                match redirect(target, Scheme::Https, status, &headers) {
                    Redirect::None => judge(status),
                    Redirect::Https | Redirect::Elsewhere => Err(not_reached(status, &headers)),
                }
            }
            Redirect::Https | Redirect::Elsewhere => Err(not_reached(status, &headers)),
        }
    }

    async fn ask(&self, target: &str, scheme: Scheme) -> Result<(StatusCode, HeaderMap), String> {
        let memory = Rc::clone(&self.memory);
        let call = call(target, scheme, memory).map_err(|error| error.to_string())?;
        let reply = timeout(self.limit, self.dispatcher.try_on(&self.lane, call)).await;
        let reply = reply.map_err(|_| format!("no response within {:?}", self.limit))?;
        Ok(match reply {
            Ok(reply) => {
                let (parts, _) = reply.response.into_parts();
                (parts.status, parts.headers)
            }
            Err(refusal) => (refusal.into_response().status(), HeaderMap::new()),
        })
    }
}

fn judge(status: StatusCode) -> Result<(), String> {
    match status.as_u16() {
        200..=399 => Ok(()),
        403 => Err(format!(
            "responded with 403: the application may refuse the host {SELF} \
             (in Rails, exempt the path by config.host_authorization)"
        )),
        code => Err(format!("responded with {code}")),
    }
}

fn not_reached(status: StatusCode, headers: &HeaderMap) -> String {
    let location = headers.get(LOCATION).map_or(&b""[..], |it| it.as_bytes());
    format!(
        "responded with {} to {}, so it did not reach the application: exempt the path from that redirect \
         (in Rails, by config.ssl_options)",
        status.as_u16(),
        String::from_utf8_lossy(location)
    )
}

/// Where a response redirects the client, if the path stays the same.
#[derive(Debug, PartialEq, Eq)]
enum Redirect {
    /// The response is no redirect, or leads to another path, which is the application's decision.
    None,
    /// The response leads to this host, over HTTPS.
    Https,
    /// The response leads to another host, or from HTTPS.
    Elsewhere,
}

fn redirect(target: &str, scheme: Scheme, status: StatusCode, headers: &HeaderMap) -> Redirect {
    let location = headers.get(LOCATION).filter(|_| status.is_redirection());
    let Some(uri) = location.and_then(|it| Uri::try_from(it.as_bytes()).ok()) else {
        return Redirect::None;
    };
    let mut parts = target.splitn(2, '?');
    let (path, query) = (parts.next().unwrap_or_default(), parts.next());
    match (uri.scheme_str(), uri.host()) {
        (Some(_), Some(_)) if uri.path() != path => Redirect::None,
        // A redirect that only changes the query, such as to add a locale, is the application's decision, too.
        (Some(to), Some(SELF)) if to == scheme.name() && uri.query() != query => Redirect::None,
        (Some("https"), Some(SELF)) => Redirect::Https,
        (Some(_), Some(_)) => Redirect::Elsewhere,
        (_, _) => Redirect::None,
    }
}

fn call(target: &str, scheme: Scheme, memory: Rc<MemoryAccount>) -> http::Result<Call> {
    let request = http::Request::builder()
        .uri(target)
        .header(HOST, SELF)
        .header(USER_AGENT, "carat restart_check");
    let (parts, ()) = request.body(())?.into_parts();
    let mut peer = Peer::new("127.0.0.1".to_owned(), false, scheme.default_port(), None);
    peer.scheme = scheme;
    Ok(Call::new(parts, Rc::new(peer), memory))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    /// A part that may demand HTTPS.
    struct Demanding(bool);

    impl Part for Demanding {
        fn name(&self) -> &'static str {
            "demanding"
        }

        fn demands_https(&self) -> bool {
            self.0
        }
    }

    #[test]
    fn a_check_speaks_https_where_clients_cannot_come_in_clear() {
        let parts = |demands: &[bool]| -> PartList {
            let part = |it: &bool| Box::new(Demanding(*it)) as Box<dyn Part>;
            demands.iter().map(part).collect()
        };
        assert_eq!(client_scheme(&parts(&[])), Scheme::Http);
        assert_eq!(client_scheme(&parts(&[false])), Scheme::Http);
        assert_eq!(client_scheme(&parts(&[false, true])), Scheme::Https);
    }

    #[test]
    fn only_a_redirect_of_the_same_path_to_another_scheme_or_host_is_a_detour() {
        for (status, location, expected) in [
            (301, "https://localhost/up", Redirect::Https),
            (308, "https://localhost:443/up?full=1", Redirect::Https),
            (301, "https://www.example.com/up", Redirect::Elsewhere),
            (302, "http://localhost:3000/up?full=1", Redirect::Elsewhere),
            (302, "http://localhost/up?full=1&locale=en", Redirect::None),
            (302, "https://login.example.com/", Redirect::None),
            (302, "/login", Redirect::None),
            (302, "/up", Redirect::None),
            (201, "https://localhost/up", Redirect::None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(LOCATION, HeaderValue::from_static(location));
            let status = StatusCode::from_u16(status).expect("a status");
            assert_eq!(
                redirect("/up?full=1", Scheme::Http, status, &headers),
                expected,
                "{location}"
            );
        }
    }
}
