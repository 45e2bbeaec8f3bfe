use http::header::HOST;

use super::call::Call;

/// The target of a request: the path, the query, and the server as the client names it.
#[derive(PartialEq, Eq)]
pub struct RequestTarget<'a> {
    /// The path as the client sent it, still encoded.
    pub path: &'a str,
    /// The query without its question mark; empty when there is none.
    pub query: &'a str,
    /// The host without its port.
    pub server_name: &'a [u8],
    /// The port that the host names, or the default of the scheme.
    pub server_port: u16,
}

impl<'a> RequestTarget<'a> {
    /// Reads the target of a request. The host that a trusted proxy names takes precedence over the one of an absolute
    /// target, and that one over Host (RFC 9112 3.2.2). Without any of them the server is `localhost` at the port that
    /// the client connected to. A host without a port has the default port of the scheme.
    pub fn of(call: &'a Call) -> RequestTarget<'a> {
        let parts = &call.parts;
        let client = call.forwarded.as_deref();
        let authority = client
            .and_then(|client| client.host.as_deref())
            .or_else(|| match parts.uri.authority() {
                Some(authority) => Some(authority.as_str().as_bytes()),
                None => parts.headers.get(HOST).map(http::HeaderValue::as_bytes),
            });
        let proxied_port = client.and_then(|client| client.port);
        let default_port = || proxied_port.unwrap_or_else(|| call.scheme().default_port());
        let (server_name, server_port) = match authority {
            Some(authority) if !authority.is_empty() => {
                let (name, port) = split_port(authority);
                (name, port.unwrap_or_else(default_port))
            }
            _ => {
                let port = proxied_port.unwrap_or(call.peer.local_port);
                (&b"localhost"[..], port)
            }
        };
        let path = if parts.uri.path().is_empty() {
            "/"
        } else {
            parts.uri.path()
        };
        RequestTarget {
            path,
            query: parts.uri.query().unwrap_or(""),
            server_name,
            server_port,
        }
    }
}

/// Splits `name:port` at the last colon outside of the brackets of an IPv6 address.
fn split_port(authority: &[u8]) -> (&[u8], Option<u16>) {
    let colon = authority
        .iter()
        .rposition(|&byte| byte == b':' || byte == b']');
    let Some(colon) = colon.filter(|&index| authority[index] == b':') else {
        return (authority, None);
    };
    let digits = std::str::from_utf8(&authority[colon + 1..]).unwrap_or_default();
    (&authority[..colon], digits.parse().ok())
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use carat_wire::Scheme;
    use http::HeaderValue;

    use super::*;
    use crate::Peer;
    use crate::client::ForwardedClient;

    fn call(uri: &str, host: Option<&'static str>) -> Call {
        let mut call = Call::plain("GET", uri);
        if let Some(host) = host {
            let host = HeaderValue::from_static(host);
            call.parts.headers.insert(HOST, host);
        }
        call.peer = Rc::new(Peer::new(String::new(), false, 9292, None));
        call
    }

    fn target_of(uri: &str, host: Option<&'static str>, check: impl FnOnce(RequestTarget<'_>)) {
        check(RequestTarget::of(&call(uri, host)));
    }

    /// The server of a request that a proxy passed on with this host and port.
    fn server_of(host: Option<&str>, port: Option<u16>, scheme: Scheme) -> (String, u16) {
        let mut call = call("/", Some("inner.example:8080"));
        call.forwarded = Some(Box::new(ForwardedClient {
            scheme: Some(scheme),
            host: host.map(|host| Box::from(host.as_bytes())),
            port,
            ..ForwardedClient::default()
        }));
        let target = RequestTarget::of(&call);
        let name = String::from_utf8(target.server_name.to_vec());
        (name.expect("text"), target.server_port)
    }

    #[test]
    fn what_a_trusted_proxy_says_overrules_the_host_header() {
        let server = |name: &str, port| (name.to_owned(), port);
        let (https, http) = (Scheme::Https, Scheme::Http);
        for (host, port, scheme, expected) in [
            (Some("a.example"), None, https, server("a.example", 443)),
            (Some("a.example"), None, http, server("a.example", 80)),
            (
                Some("a.example:8443"),
                None,
                https,
                server("a.example", 8443),
            ),
            (
                Some("a.example"),
                Some(444),
                https,
                server("a.example", 444),
            ),
            (Some("[::1]:81"), Some(444), http, server("[::1]", 81)),
            (None, Some(444), https, server("inner.example", 8080)),
        ] {
            assert_eq!(server_of(host, port, scheme), expected, "{host:?} {port:?}");
        }
    }

    #[test]
    fn the_server_is_what_the_host_header_says() {
        target_of("/a?b=c", Some("example.org:8080"), |target| {
            assert_eq!((target.path, target.query), ("/a", "b=c"));
            let found = (target.server_name, target.server_port);
            assert_eq!(found, (&b"example.org"[..], 8080));
        });
        target_of("/", Some("[::1]:8080"), |target| {
            assert_eq!(target.server_name, b"[::1]");
        });
        target_of("/", Some("[::1]"), |target| {
            assert_eq!(target.server_port, 80);
        });
        target_of("/", None, |target| assert_eq!(target.server_port, 9292));
    }

    #[test]
    fn the_default_port_is_that_of_the_scheme() {
        for (host, port) in [(Some("a"), 443), (Some("a:8080"), 8080), (None, 9292)] {
            let mut call = call("/", host);
            let mut peer = Peer::new(String::new(), false, 9292, None);
            peer.scheme = Scheme::Https;
            call.peer = Rc::new(peer);
            assert_eq!(RequestTarget::of(&call).server_port, port, "{host:?}");
        }
    }

    #[test]
    fn an_absolute_target_overrules_the_host_header() {
        target_of("http://real.example/x", Some("other.example"), |target| {
            let found = (target.server_name, target.path);
            assert_eq!(found, (&b"real.example"[..], "/x"));
        });
    }
}
