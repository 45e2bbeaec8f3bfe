use http::header::HOST;
use http::request::Parts;

use super::peer::Peer;

/// What a request is for: the path, the query, and the server as the client names it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RequestTarget<'a> {
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    pub(crate) server_name: &'a [u8],
    pub(crate) server_port: u16,
}

const HTTP_PORT: u16 = 80;

impl<'a> RequestTarget<'a> {
    /// Reads the target of a request. An absolute form takes precedence over Host (RFC 9112 3.2.2).
    /// Without either the server is `localhost` at the port that the client connected to.
    pub(crate) fn of(parts: &'a Parts, peer: &Peer) -> RequestTarget<'a> {
        let authority = match parts.uri.authority() {
            Some(authority) => Some(authority.as_str().as_bytes()),
            None => parts.headers.get(HOST).map(http::HeaderValue::as_bytes),
        };
        let (server_name, server_port) = match authority {
            Some(authority) if !authority.is_empty() => split_port(authority),
            _ => (&b"localhost"[..], peer.local_port),
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
fn split_port(authority: &[u8]) -> (&[u8], u16) {
    let colon = authority
        .iter()
        .rposition(|&byte| byte == b':' || byte == b']');
    let Some(colon) = colon.filter(|&index| authority[index] == b':') else {
        return (authority, HTTP_PORT);
    };
    let digits = std::str::from_utf8(&authority[colon + 1..]).unwrap_or_default();
    (&authority[..colon], digits.parse().unwrap_or(HTTP_PORT))
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn target_of(uri: &str, host: Option<&str>, check: impl FnOnce(RequestTarget<'_>)) {
        let mut request = Request::builder().uri(uri);
        if let Some(host) = host {
            request = request.header(HOST, host);
        }
        let (parts, ()) = request.body(()).expect("a valid request").into_parts();
        let peer = Peer::new(String::new(), false, 9292, None);
        check(RequestTarget::of(&parts, &peer));
    }

    #[test]
    fn the_server_is_what_the_host_header_says() {
        target_of("/a?b=c", Some("example.org:8080"), |target| {
            assert_eq!((target.path, target.query), ("/a", "b=c"));
            assert_eq!(
                (target.server_name, target.server_port),
                (&b"example.org"[..], 8080)
            );
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
    fn an_absolute_target_overrules_the_host_header() {
        target_of("http://real.example/x", Some("other.example"), |target| {
            assert_eq!(
                (target.server_name, target.path),
                (&b"real.example"[..], "/x")
            );
        });
    }
}
